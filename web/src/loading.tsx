// Waiting for the server, and what is said where it refuses.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, Refusal } from "./server";

export interface Loaded<T> {
  data: T | null;
  error: Refusal | null;
  reload: () => void;
  put: (data: T) => void;
}

// A run may still be opening: 503 means ask again in a moment.
export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

export function useLoaded<T>(address: string | null): Loaded<T> {
  const [state, set] = useState<{ address: string | null; data: T | null; error: Refusal | null }>({
    address,
    data: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (address === null) return;
    const stop = new AbortController();
    patiently(() => get<T>(address, stop.signal), stop.signal).then(
      (data) => set({ address, data, error: null }),
      (error: unknown) => {
        if (error instanceof Refusal) set({ address, data: null, error });
      },
    );
    return () => stop.abort();
  }, [address, round]);
  // An answer belongs to its address: what was loaded for another page is never shown under this one's name.
  const mine = state.address === address;
  return {
    data: mine ? state.data : null,
    error: mine ? state.error : null,
    reload: () => setRound((n) => n + 1),
    put: (data) => set({ address, data, error: null }),
  };
}

export function Waiting(props: { what: string }): JSX.Element {
  return (
    <p class="waiting" role="status">
      {props.what} …
    </p>
  );
}

export function Trouble(props: { error: Refusal; again?: () => void; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="trouble" role="alert">
      <p>{props.error.message}</p>
      {props.children}
      {props.again && (
        <button type="button" class="tool" onClick={props.again}>
          Try again
        </button>
      )}
    </div>
  );
}
