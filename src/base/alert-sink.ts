/** Receives what alerts of one kind are made of, for all sandboxes of a server; is not waited for and does not throw. */
export interface AlertSink<Event> {
  happened(sandbox: string, event: Event): void;
  /** It is over, at the latest with the sandbox. Without anything that happened it says nothing. */
  ended(sandbox: string): void;
}
