export const PAGES = 24;

/** Milliseconds that a page takes. */
export const PAGE_TIME = 400;
