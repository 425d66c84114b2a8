/** What a store counts since it was opened; the parts of an engine count. */

export type StoreCounts = ReturnType<typeof createStoreCounts>;

export function createStoreCounts() {
  return {
    commits: 0,
    committedWrites: 0,
    commitSeconds: 0,
    /** Queries of pets that clients list or get. */
    reads: 0,
    /** Pages of lists; without a page cache none is counted. */
    pages: 0,
    /** Pages of lists that the page cache did not have. */
    readPages: 0,
  };
}
