// Keys of a page; not while someone writes.
import { useEffect, useRef } from "preact/hooks";

function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input:not([type=checkbox],[type=radio]),textarea,select,[contenteditable]") !== null;
}

export function useKeys(keys: Record<string, () => void>): void {
  // What a key does follows the page as it is shown, however fast keys come.
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
      const action = now.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
