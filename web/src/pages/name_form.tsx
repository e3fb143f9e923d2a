// What people call a filter. Two people may write at once: nobody's words are lost without being shown.
import type { JSX, RefObject } from "preact";
import { useId, useState } from "preact/hooks";
import { api, type FilterPage, type Layer, Refusal, type Run, send } from "../server";

interface Props {
  run: Run;
  layer: Layer;
  filter: FilterPage;
  names: string[];
  field: RefObject<HTMLInputElement | null>;
  saved: (page: FilterPage) => void;
  merged: () => void;
}

// A refusal for being late carries what the other person wrote: the filter's object, itself or beside the error.
function presentState(refusal: Refusal): FilterPage | null {
  const body = refusal.body as Record<string, unknown> | null;
  const candidates = [body, body?.["present"], body?.["filter"], body?.["now"]];
  for (const one of candidates) {
    if (typeof one === "object" && one !== null && "revision" in one && "name" in one) return one as unknown as FilterPage;
  }
  return null;
}

export function NameForm(props: Props): JSX.Element {
  const { run, layer, filter } = props;
  const id = useId();
  const [name, setName] = useState(filter.named_by === "people" ? filter.name : "");
  const [note, setNote] = useState(filter.note);
  const [into, setInto] = useState("");
  const [state, setState] = useState("");
  const [theirs, setTheirs] = useState<FilterPage | null>(null);
  const known = [...new Set(props.names.filter(Boolean))].sort();
  const write = async (words: string, remark: string, revision: number): Promise<void> => {
    setState("Saving …");
    try {
      const page = await send<FilterPage>("PUT", api.name(run.id, layer.name, filter.filter), { name: words, note: remark, revision });
      setTheirs(null);
      setState("Saved.");
      props.saved({ ...filter, ...page });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const present = error.status === 409 ? presentState(error) : null;
      setTheirs(present);
      setState(present ? "" : error.message);
    }
  };
  const merge = async (): Promise<void> => {
    setState("Merging …");
    try {
      await send("POST", api.merges(run.id), { part: filter.name, into });
      setState(`Every ${filter.name} is called ${into} now.`);
      props.merged();
    } catch (error) {
      setState(error instanceof Refusal ? error.message : "It could not be merged.");
    }
  };
  return (
    <section class="name-form" data-export="no">
      <h2>What do you call it?</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void write(name.trim(), note.trim(), filter.revision);
        }}
      >
        <label for={`${id}-name`}>Name</label>
        <input
          id={`${id}-name`}
          ref={props.field}
          value={name}
          list={`${id}-known`}
          placeholder={filter.name || "snout, ear, wheel …"}
          autocomplete="off"
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <datalist id={`${id}-known`}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <label for={`${id}-note`}>Note</label>
        <textarea id={`${id}-note`} rows={2} maxLength={2000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        <p class="tools">
          <button class="tool primary" disabled={name.trim() === "" && note.trim() === filter.note}>
            Save
          </button>
          {filter.named_by === "people" && (
            <button type="button" class="tool" onClick={() => void write("", note.trim(), filter.revision)}>
              Take the name back
            </button>
          )}
          <span role="status" class="note">
            {state}
          </span>
        </p>
      </form>
      {theirs && (
        <div class="conflict" role="alert">
          <p>
            Someone else was faster. They wrote: <b>{theirs.name || "no name"}</b>
            {theirs.note && <>, with the note “{theirs.note}”</>}. You wrote: <b>{name.trim() || "no name"}</b>.
          </p>
          <p class="tools">
            <button type="button" class="tool" onClick={() => props.saved({ ...filter, ...theirs })}>
              Keep theirs
            </button>
            <button type="button" class="tool" onClick={() => void write(name.trim(), note.trim(), theirs.revision)}>
              Write mine over it
            </button>
          </p>
        </div>
      )}
      {filter.name !== "" && (
        <details>
          <summary>{`Merge every “${filter.name}” into another part`}</summary>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (into.trim() !== "") void merge();
            }}
          >
            <label for={`${id}-into`}>Into</label>
            <input id={`${id}-into`} value={into} list={`${id}-known`} autocomplete="off" onInput={(event) => setInto(event.currentTarget.value)} />
            <p class="tools">
              <button class="tool" disabled={into.trim() === ""}>
                Merge
              </button>
            </p>
          </form>
        </details>
      )}
    </section>
  );
}
