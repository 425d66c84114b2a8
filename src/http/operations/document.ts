/** The operations as the document describes them: by their path, and their method. */

import { ERRORS, type ErrorCode } from '../../error.ts';
import {
  beta,
  type DescribedError,
  deprecationHeaders,
  describeContent,
  describeSuccess,
  errorResponse,
  otherErrors,
  unauthorized,
} from '../schemas/responses.ts';
import type { Operation, Parameter } from './operation.ts';
import { OPERATIONS } from './operations.ts';

export function describePaths(): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

function describeOperation(operation: Operation) {
  const { operationId, summary, description, body, parameters, deprecation } = operation;
  return {
    ...{ operationId, summary, tags: ['animals'], description },
    ...(body && { requestBody: { required: true, content: describeContent(body.schema) } }),
    parameters: Object.values(parameters).map(describeParameter),
    ...(deprecation && {
      deprecated: true,
      'x-deprecated-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    responses: describeResponses(operation),
  };
}

function describeParameter(parameter: Parameter<unknown>) {
  const { place, name, description, schema, example, isBeta } = parameter;
  const described = {
    schema,
    ...(example !== undefined && { example }),
    ...{ in: place, name, required: place === 'path', description },
  };
  return isBeta ? beta(described) : described;
}

function describeResponses(operation: Operation) {
  const { success, errors, deprecation } = operation;
  const declared = errors.filter(({ description }) => description !== undefined);
  return {
    [success.status]: {
      ...describeSuccess(success.description, success.schema, {
        ...(deprecation && deprecationHeaders),
        ...success.headers,
      }),
      ...(success.links && { links: success.links }),
    },
    401: unauthorized,
    ...Object.fromEntries(
      declared.map((error) => [
        ERRORS[error.code].status,
        errorResponse(error.description ?? '', [error]),
      ]),
    ),
    default: otherErrors(listOtherErrors(operation)),
  };
}

/** Its own errors that the interface does not declare, and those that its parts bring, by status. */
function listOtherErrors({ method, body, errors, deprecation }: Operation): DescribedError[] {
  const codes: ErrorCode[] = [
    ...(method === 'GET' ? [] : (['forbidden'] as const)),
    ...(body ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(deprecation ? (['gone'] as const) : []),
  ];
  const others = errors.filter(({ description }) => description === undefined);
  return [...others, ...codes.map((code) => ({ code }))].toSorted(
    (one, other) => ERRORS[one.code].status - ERRORS[other.code].status,
  );
}
