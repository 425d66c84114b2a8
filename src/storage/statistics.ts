/** What the parts of an engine count of their work, see StoreStatistics. */

export class Statistics {
  commits = 0;
  committedWrites = 0;
  commitSeconds = 0;
  waitingWrites = 0;
  /** Queries of pets that clients list or get. */
  reads = 0;
  cachedPages = 0;
  readPages = 0;
}
