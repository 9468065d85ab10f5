/** What a worker can be asked to do, by name. */
export type WorkerCalls = { readonly [name: string]: (...args: never[]) => unknown };

/** From the starting process: run one of the calls. */
export interface CallMessage {
  readonly kind: 'call';
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** An error on its way between processes; its class stays behind. */
export interface WorkerFailure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
}

/** From the worker. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'told'; readonly message: unknown }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: WorkerFailure };
