/** Ends what a test opened with the scope of the test, however that ends. */

/** The same resource, which `await using` closes unless the test has done so itself. */
export function disposable<Resource extends { close(): Promise<void> }>(
  resource: Resource,
): Resource & AsyncDisposable {
  const closeOnce = resource.close.bind(resource);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };
  return Object.assign(resource, { close, [Symbol.asyncDispose]: close });
}
