/** The docs page: a text of its own, and the script by which Scalar shows the OpenAPI document in its place. */

import { hash } from 'node:crypto';
import { RECIPES } from '../recipes.ts';
import { HEAD } from './docs-pages.ts';
import { SCRIPT_NAME } from './docs-script.ts';

/** Nothing of the page is loaded from, or sent to, any other server. */
const SETTINGS = JSON.stringify({
  slug: 'petstore',
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'none',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
});

/**
 * Runs after Scalar's. Without `x-disabled` Scalar sends every optional parameter that has a default, an
 * example or an enum. With `persistAuth` it stores a token when it changes, so one that is there is set anew.
 */
const SCRIPT = `
const STORED = 'scalar-reference-auth-petstore';
const reference = document.getElementById('reference');
const keep = document.getElementById('keep');
keep.checked = localStorage.getItem(STORED) !== null;
const content = await (await fetch('../openapi.json')).json();
for (const server of content.servers) {
  server.url = new URL(server.url.replace(/^[/]v1$/, '../v1'), location.href).href;
}
for (const parameter of Object.values(content.paths).flatMap(Object.values).flatMap((operation) => operation.parameters ?? [])) {
  const { required, example: value = parameter.schema.default } = parameter;
  // It would be shown as a double, which is rounded.
  if (!Number.isSafeInteger(parameter.schema.maximum)) delete parameter.schema.maximum;
  if (!required) parameter.examples = { default: { value, 'x-disabled': true } };
}
// Scalar writes a while after a change, which may be when the token is no longer to be kept.
const { setItem } = Storage.prototype;
Storage.prototype.setItem = function (name, value) {
  if (name !== STORED || keep.checked) setItem.call(this, name, value);
};
const getSettings = () => ({ ...${SETTINGS}, content, persistAuth: keep.checked });
reference.replaceChildren();
const { updateConfiguration } = Scalar.createApiReference(reference, getSettings());
keep.disabled = false;
keep.addEventListener('change', () => {
  updateConfiguration(getSettings());
  if (!keep.checked) return localStorage.removeItem(STORED);
  localStorage.setItem(STORED, '{}');
  for (const field of reference.querySelectorAll('.scalar-password-input')) {
    for (const value of ['', field.value]) {
      field.value = value;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }
});
`;

/** What the policy of the page must allow beside its own files. */
export const SCRIPT_SOURCE = `'sha256-${hash('sha256', SCRIPT, 'base64')}'`;

const LINKS = [...RECIPES].map(([name, title]) => `<a href="recipes/${name}">${title}</a>`);

/** At `/docs/`. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>Petstore: documentation</title>
<link rel="preload" href="../openapi.json" as="fetch" crossorigin>
<script defer src="js/${SCRIPT_NAME}"></script>
<style>
:root { --scalar-custom-header-height: 3rem; color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif }
body { margin: 0 }
header { position: sticky; top: 0; z-index: 20; box-sizing: border-box; height: 3rem; padding: 0 1rem; display: flex; align-items: center; gap: 1.2rem; overflow-x: auto; white-space: nowrap; font-size: .9rem; background: var(--scalar-background-1, Canvas); color: var(--scalar-color-1, CanvasText); border-bottom: 1px solid var(--scalar-border-color, GrayText) }
header a { color: inherit; text-underline-offset: .2em }
header label { margin-left: auto }
@media (width < 60rem) { header { gap: .8rem; white-space: normal; line-height: 1.2 } header span { display: none } }
.text { max-width: 36rem; margin: 4rem auto; padding: 0 1.5rem }
</style>
</head>
<body>
<header>
<a href="../">Petstore</a>
<a href="../console/">Console</a>
<a href="../openapi.json">OpenAPI document</a>
<span>Write a client: ${LINKS.join(', ')}</span>
<label><input id="keep" type="checkbox" disabled> Keep the key in this browser</label>
</header>
<div id="reference">
<div class="text">
<h1>Petstore</h1>
<p>Keeps the pets of a store: list them, add one, get one. Every operation needs an API key, which the operator of the service makes.</p>
<p>Its operations, with forms to try them, are shown here once the script of this page is loaded. Without JavaScript, the OpenAPI document has them.</p>
<p>Clients to copy: ${LINKS.join(', ')}.</p>
</div>
</div>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
