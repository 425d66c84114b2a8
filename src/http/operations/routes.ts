/** The routes of the operations, under `/v1`. */

import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { badRequest, PetstoreError } from '../../error.ts';
import { findNearest } from '../../nearest.ts';
import { parseBody, requireJson } from './json-body.ts';
import type { Deprecation, OperationContext, Parameter } from './operation.ts';
import { OPERATIONS } from './operations.ts';

export function addOperations(scope: FastifyInstance, context: OperationContext): void {
  for (const operation of OPERATIONS) {
    const { method, path, deprecation, body, success } = operation;
    const parameters = Object.entries(operation.parameters);
    const ofQuery = parameters.filter(([, { place }]) => place === 'query');
    const queryNames = ofQuery.map(([name]) => name);
    scope.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      onRequest: [
        ...(deprecation ? [createDeprecation(deprecation, context)] : []),
        ...(method === 'GET' ? [] : [requireWritable]),
        ...(body ? [requireJson] : []),
      ],
      ...(body && {
        // Before the fair queue: a parsed pet takes less memory there than its body.
        preValidation(request, _reply, done) {
          request.body = body.parse(parseBody(request.body));
          done();
        },
      }),
      handler(request, reply) {
        const input = readInput(parameters, request);
        if (queryNames.length > 0) refuseUnknown(request.query as Values, queryNames);
        reply.code(success.status).type('application/json');
        return operation.handle(context, input, reply);
      },
    });
  }
}

/** Refuses a key that may not add pets, before the body is looked at. */
const requireWritable: onRequestHookHandler = ({ isReadOnly }, _reply, done) => {
  done(isReadOnly ? new PetstoreError('forbidden') : undefined);
};

/** The hook that tells clients of the end (RFC 9745, RFC 8594), and answers 410 once the operation is retired. */
function createDeprecation(
  { since, sunset, isRetired }: Deprecation,
  context: OperationContext,
): onRequestHookHandler {
  const headers = {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${context.base}/docs>; rel="deprecation"; type="text/html"`,
  };
  return function tellDeprecation(_request, reply, done) {
    reply.headers(headers);
    done(isRetired(context) ? new PetstoreError('gone') : undefined);
  };
}

/** The parameters in a request: several texts if a query gives one several times. */
type Values = Readonly<Record<string, string | string[] | undefined>>;

const REQUEST_PARTS = { path: 'params', query: 'query', header: 'headers' } as const;

function readInput(
  parameters: readonly [name: string, Parameter<unknown>][],
  request: FastifyRequest,
) {
  const input: Record<string, unknown> & { body: unknown } = { body: request.body };
  for (const [name, { place, parse }] of parameters) {
    const values = request[REQUEST_PARTS[place]] as Values;
    // Node has the names of header fields in lower case.
    const value = values[place === 'header' ? name.toLowerCase() : name];
    if (Array.isArray(value)) throw badRequest(`${name} must be given only once`);
    input[name] = parse(value);
  }
  return input;
}

/** What caches and trackers add to an address. It changes no answer. */
const IGNORED = /^(?:_|utm_\w*|(?:dcl|fbcl|gcl|msclk|ttcl|twcl|ycl)id|[gw]braid)$/;

/** @throws PetstoreError for a parameter that the operation does not have: a mistyped filter would list all pets. */
function refuseUnknown(query: Values, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name) && !IGNORED.test(name));
  if (unknown === undefined) return;
  const shown = unknown.slice(0, 40);
  const nearest = findNearest(shown, known, 2);
  const hint = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`;
  throw badRequest(`unknown parameter ${JSON.stringify(shown)}: ${hint}`);
}
