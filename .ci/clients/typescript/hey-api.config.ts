/** What hey-api generates: a client that checks requests and answers with zod, and whose int64 are bigint. */

export default {
  input: process.env.DOCUMENT,
  output: 'generated/hey-api',
  plugins: [
    '@hey-api/client-fetch',
    'zod',
    '@hey-api/transformers',
    { name: '@hey-api/sdk', validator: true, transformer: true },
  ],
};
