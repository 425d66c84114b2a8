/** The header field `Prefer` of a rehearsed request (RFC 7240): what may stand in it, and its parser. */

import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';

/** By status: the first code that has it. */
export const CODES: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(ERRORS)
    .reverse()
    .map(([code, { status }]) => [String(status), code as ErrorCode]),
);

/** The answers of a proxy in front of the service. */
export const OF_PROXY: ReadonlyMap<string, string> = new Map([
  ['502', 'Bad Gateway'],
  ['504', 'Gateway Timeout'],
]);

const STATUSES = [...CODES.keys(), ...OF_PROXY.keys()].sort();

/** The preferences: what each must be. A delay is below IDLE_MS_MAX, and below the usual limit of a proxy. */
const PREFERENCES: ReadonlyMap<string, readonly [form: RegExp, must: string]> = new Map([
  ['status', [new RegExp(`^(?:${STATUSES.join('|')})$`), `be one of ${STATUSES.join(', ')}`]],
  ['lose-answer', [/^$/, 'have no value']],
  ['delay', [/^(?:[12]?\d(?:\.\d{1,3})?|30)$/, 'be a number of seconds from 0 to 30']],
  ['times', [/^[1-9]\d{0,2}$/, 'be a whole number from 1 to 999']],
]);

/**
 * The value of each preference, without parameters; the first one of a name counts (RFC 7240 section 2).
 *
 * @throws PetstoreError for any other preference: a test that rehearses nothing would pass.
 */
export function parsePrefer(prefer: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const preference of prefer.split(',')) {
    const [withoutParameters = ''] = preference.split(';');
    const [given = '', quoted = ''] = withoutParameters.split('=');
    const lower = given.trim().toLowerCase();
    // Prism, which many know, says `code`.
    const name = lower === 'code' ? 'status' : lower;
    const value = quoted.replaceAll('"', '').trim();
    if (name === '' || preferences.has(name)) continue;
    const [form, must] = PREFERENCES.get(name) ?? [];
    if (!form?.test(value)) {
      const rule = must
        ? `${name} must ${must}`
        : `it must be ${[...PREFERENCES.keys()].join(', ')}`;
      throw new PetstoreError('bad_request', `Prefer: ${rule}`);
    }
    preferences.set(name, value);
  }
  if (preferences.size === 1 && preferences.has('times')) {
    throw new PetstoreError('bad_request', 'Prefer: times must come with what it counts');
  }
  return preferences;
}
