/** The rush that the page's button sends. */
export const NEXT_RUSH = {
  stock: Number(process.env.SALE_STOCK ?? 100),
  buyers: Number(process.env.SALE_BUYERS ?? 600),
};

/** One rush at a time, over all instances. */
export const RUSH_LOCK = 'rush';
