/** Money that comes into an account. */
export interface Deposit {
  readonly account: string;
  readonly amount: number;
}

/** Books deposits: reads the balance, adds to it, writes it. */
export interface Deposits {
  book(deposit: Deposit): Promise<void>;
}
