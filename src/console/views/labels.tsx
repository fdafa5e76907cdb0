import type { VNode } from "preact";
import { Untrusted } from "../text/untrusted.tsx";

/** A run's labels. */
export function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> }): VNode | null {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span class="labels">
      {entries.map(([name, value]) => (
        <span key={name} class="label">
          <Untrusted text={`${name}=${value}`} max={60} />
        </span>
      ))}
    </span>
  );
}
