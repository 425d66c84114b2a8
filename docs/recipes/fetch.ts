/**
 * A client of the petstore in TypeScript without a package, for Node 22.18 or newer: save it as client.mts,
 * then KEY=… node client.mts http://127.0.0.1:8080/v1
 *
 * A number of JavaScript is exact to 2^53 alone. JSON.parse hands the digits to its reviver, and
 * JSON.rawJSON writes them, so every int64 is a bigint here; in browsers from Chrome 114, Firefox 135, Safari 18.4 on.
 */

interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: 'available' | 'pending' | 'sold';
}

interface Pet extends NewPet {
  readonly id: bigint;
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
const writeJson = (value: unknown) =>
  JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
const readJson = (text: string) =>
  JSON.parse(text, (name, value, context?: { source: string }) =>
    /^(id|categoryId)$/.test(name) ? BigInt(context?.source ?? value) : value,
  );

const TRIES_MAX = 10;
const [base = ''] = process.argv.slice(2);
const { KEY = '' } = process.env;
if (base === '' || KEY === '') {
  console.error('usage: KEY=… node client.mts http://127.0.0.1:8080/v1');
  process.exit(2);
}

/** The service has refused a request, and would refuse it again. */
class Refused extends Error {}

/**
 * Sends a request until it is answered: again when the answer is lost, and after 429, 502, 503 and 504
 * when Retry-After says. So a create needs its Idempotency-Key.
 */
async function send(url: string, init: { headers?: object; method?: string; body?: string } = {}) {
  for (let tries = 1; ; tries += 1) {
    const headers = { Authorization: `Bearer ${KEY}`, ...init.headers };
    const signal = AbortSignal.timeout(10_000);
    let seconds = 0;
    try {
      const response = await fetch(url, { ...init, headers, signal });
      const text = await response.text();
      if (response.ok) return { response, text };
      if (tries === TRIES_MAX || ![429, 502, 503, 504].includes(response.status)) {
        throw new Refused(`${response.status}: ${text.slice(0, 200)}`);
      }
      seconds = Number(response.headers.get('retry-after')) || 0;
    } catch (error) {
      if (tries === TRIES_MAX || error instanceof Refused) throw error;
    }
    // The random part keeps clients that were refused together from coming back together.
    const ms = seconds * 1_000 + Math.min(200 * 2 ** tries, 5_000) * Math.random();
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** Adds a pet once, however often it is sent with the same key. */
async function create(pet: NewPet, idempotencyKey: string) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
  const { response, text } = await send(`${base}/pets`, {
    method: 'POST',
    headers,
    body: writeJson(pet),
  });
  return {
    pet: readJson(text) as Pet,
    replayed: response.headers.get('idempotency-replayed') === 'true',
  };
}

/** Every pet of a query, page by page: `list('limit=100&status=sold')`. */
async function* list(query = ''): AsyncGenerator<Pet> {
  for (let url: string | undefined = `${base}/pets?${query}`; url !== undefined; ) {
    const { response, text } = await send(url);
    yield* readJson(text) as Pet[];
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    // Its address is relative to this one's; the key is sent to this service alone.
    url = next === undefined ? undefined : new URL(next, url).href;
    if (url !== undefined && new URL(url).origin !== new URL(base).origin) {
      throw new Error(`the next page is at another origin: ${url}`);
    }
  }
}

const idempotencyKey = crypto.randomUUID();
const rex = { name: 'Rex', categoryId: 9223372036854775807n };
const added = await create(rex, idempotencyKey);
console.log(`added ${added.pet.id}, category ${added.pet.categoryId}`);
const again = await create(rex, idempotencyKey);
console.log(`sent again: ${again.pet.id}${again.replayed ? ', replayed' : ''}`);
for await (const { id, name } of list('limit=100')) console.log(`${id} ${name}`);
await list('limit=0')
  .next()
  .catch(({ message }) => console.log(message));
