/** A client of a gateway: of socket.io, or a plain WebSocket. */
interface GatewayClient {
  readonly readyState?: number;
  emit?(event: string, payload: unknown): unknown;
  send?(frame: string): unknown;
}

/**
 * Sends a client of a gateway the event `exception`, as Nest does with a WsException.
 *
 * A plain WebSocket has `emit`, too, but that stays in this process; it is told by its `readyState`.
 */
export function emitException(client: GatewayClient, payload: unknown): void {
  if (client.readyState === undefined) client.emit?.('exception', payload);
  else client.send?.(JSON.stringify({ event: 'exception', data: payload }));
}
