// The frame around every page: where one is, where one can go, and the page the address names.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { link, type Place, usePlace } from "./address";
import { exportPage } from "./export";
import { Trouble, useLoaded, Waiting } from "./loading";
import { Atlas } from "./pages/atlas";
import { Compare } from "./pages/compare";
import { ErrorsPage } from "./pages/errors";
import { FilterView } from "./pages/filter";
import { Photograph } from "./pages/photograph";
import { NamingSheet } from "./pages/sheet";
import { RunPage } from "./pages/run";
import { Start } from "./pages/start";
import { Training } from "./pages/training";
import { api, type Run, type Runs } from "./server";
import { useKeys } from "./keys";

interface Tab {
  title: string;
  href: string;
  current: boolean;
}

function tabsOf(place: Place, runs: Run[], run: Run | undefined): Tab[] {
  const [first, second] = place.path;
  const top = run?.layers[run.layers.length - 1]?.name;
  const here = (page: string): boolean => second === page;
  const tabs: Tab[] = [{ title: "Runs", href: link([]), current: place.path.length === 0 }];
  // Where two runs are compared or several trained, one of them stays at hand.
  const named = place.query.get("second") ?? place.query.get("run");
  const some = run ?? runs.find((one) => one.id === named) ?? (runs.length === 1 ? runs[0] : undefined);
  if (some) {
    const layer = top ?? some.layers[some.layers.length - 1]?.name;
    tabs.push({ title: "Evidence", href: link([some.id]), current: first === some.id && second === undefined });
    if (layer !== undefined)
      tabs.push({ title: "Atlas", href: link([some.id, layer]), current: second !== undefined && !second.startsWith("@") });
    tabs.push({ title: "Photograph", href: link([some.id, "@photograph"]), current: here("@photograph") });
    tabs.push({ title: "Errors", href: link([some.id, "@errors"]), current: here("@errors") });
    tabs.push({ title: "Naming", href: link([some.id, "@naming"]), current: here("@naming") });
  }
  if (runs.length > 1) {
    const other = runs.find((one) => one.id !== some?.id);
    tabs.push({
      title: "Compare",
      href: link(["@compare"], some && other ? { first: other.id, second: some.id } : {}),
      current: first === "@compare",
    });
  }
  tabs.push({ title: "Training", href: link(["@training"], some ? { run: [some.id] } : {}), current: first === "@training" });
  return tabs;
}

function Page(props: { place: Place; all: Runs }): JSX.Element {
  const { place, all } = props;
  const [first, second, third, fourth] = place.path;
  if (first === undefined) return <Start all={all} />;
  if (first === "@compare") return <Compare all={all} query={place.query} />;
  if (first === "@training") return <Training all={all} query={place.query} />;
  const run = all.runs.find((one) => one.id === first);
  if (run === undefined) return <Nowhere what={`There is no run ${first} here.`} />;
  if (second === "@photograph") return <Photograph key={run.id} run={run} query={place.query} />;
  if (second === "@errors") return <ErrorsPage run={run} truth={third} predicted={fourth} />;
  if (second === "@naming") return <NamingSheet key={run.id} run={run} query={place.query} />;
  if (second === undefined) return <RunPage run={run} />;
  const layer = run.layers.find((one) => one.name === second);
  if (layer === undefined && run.opening) return <Waiting what={`${run.label} is being looked at`} />;
  if (layer === undefined) return <Nowhere what={`${run.label} has no layer ${second}.`} />;
  if (third === undefined) return <Atlas run={run} layer={layer} query={place.query} />;
  const filter = Number(third);
  if (!Number.isInteger(filter) || filter < 0 || filter >= (layer.filters ?? Infinity))
    return <Nowhere what={`${layer.name} has filters 0 to ${(layer.filters ?? 1) - 1}, no ${third}.`} />;
  return <FilterView run={run} layer={layer} filter={filter} query={place.query} canName={all.names_can_change} />;
}

function Nowhere(props: { what: string }): JSX.Element {
  return (
    <>
      <h1>Nothing here</h1>
      <p>{props.what}</p>
      <p>
        <a href={link([])}>Back to the runs</a>
      </p>
    </>
  );
}

function RunChoice(props: { runs: Run[]; run: Run; place: Place }): JSX.Element {
  const { runs, run, place } = props;
  const [, second, third] = place.path;
  // The same page of another run; a filter of one run is not the filter of another.
  const same = (other: Run): string => {
    if (second === undefined || second.startsWith("@")) return link([other.id, ...(second === undefined ? [] : [second])]);
    const layer = other.layers.find((one) => one.name === second) ?? other.layers[other.layers.length - 1];
    return layer ? link([other.id, layer.name], third === undefined ? place.query : {}) : link([other.id]);
  };
  return (
    <label class="run-choice">
      <span class="unseen">Run</span>
      <select
        value={run.id}
        onChange={(event) => {
          const other = runs.find((one) => one.id === event.currentTarget.value);
          if (other) location.hash = same(other);
        }}
      >
        {runs.map((one) => (
          <option key={one.id} value={one.id}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function Keys(props: { open: boolean; close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (props.open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [props.open]);
  const rows: [string, string][] = [
    ["j, k", "next and previous filter, in the atlas’s order"],
    ["v", "next view of the images: photograph, map, mask, masked map, field"],
    ["n", "to the name of this filter"],
    ["a", "back to the atlas"],
    ["/", "to the search field"],
    ["?", "this list"],
  ];
  return (
    <dialog ref={dialog} onClose={props.close} aria-labelledby="keys-title" data-export="no">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="tool" onClick={props.close}>
        Close
      </button>
    </dialog>
  );
}

function ExportButton(props: { program: string; run: Run | undefined }): JSX.Element {
  const [state, set] = useState("");
  const write = async (): Promise<void> => {
    set("Writing …");
    try {
      set(await exportPage(props.program, props.run));
    } catch (error) {
      set(error instanceof Error ? error.message : "The page could not be written.");
    }
    setTimeout(() => set(""), 6000);
  };
  return (
    <span class="export" data-export="no">
      <button type="button" class="tool" onClick={() => void write()} title="Writes what is on screen as one HTML file that needs no network">
        Export this page
      </button>
      <span role="status" class="note">
        {state}
      </span>
    </span>
  );
}

export function Explorer(): JSX.Element {
  const place = usePlace();
  const { data, error, reload } = useLoaded<Runs>(api.runs);
  const [keys, setKeys] = useState(false);
  const main = useRef<HTMLElement>(null);
  const address = place.path.join("/");
  const first = useRef(true);
  useKeys({ "?": () => setKeys(true) });
  useEffect(() => {
    // A new page is announced from its start; the first one is left as the browser opened it.
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [address]);
  const run = data?.runs.find((one) => one.id === place.path[0]);
  const moving = data?.runs.some((one) => one.opening || one.learning || one.state === "training") ?? false;
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(reload, 2500);
    return () => clearInterval(timer);
  }, [moving]);
  useEffect(() => {
    document.querySelector(".top nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    const names = place.path.map((one) => one.replace(/^@/, ""));
    document.title = [...names.reverse(), "Partwise explorer"].join(" · ");
  }, [address, data !== null]);
  let body: ComponentChildren;
  if (error) body = <Trouble error={error} again={reload} />;
  else if (!data) body = <Waiting what="Reading the runs" />;
  else body = <Page place={place} all={data} />;
  return (
    <>
      <a
        class="skip"
        href="#page-main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        To the page
      </a>
      <header class="top" data-export="no">
        <div class="bar">
          <a class="wordmark" href={link([])}>
            Partwise
          </a>
          {data && run && <RunChoice runs={data.runs} run={run} place={place} />}
          <nav aria-label="Pages">
            <ul>
              {data &&
                tabsOf(place, data.runs, run).map((tab) => (
                  <li key={tab.title}>
                    <a href={tab.href} aria-current={tab.current ? "page" : undefined}>
                      {tab.title}
                    </a>
                  </li>
                ))}
            </ul>
          </nav>
        </div>
      </header>
      <main ref={main} id="page-main" tabIndex={-1}>
        {body}
      </main>
      <footer data-export="no">
        <p class="note">
          {data ? `${data.program}. ` : ""}Points are measured values, bars their 95 % intervals, diamonds what something trivial would score.
        </p>
        <p class="tools">
          <ExportButton program={data?.program ?? ""} run={run} />
          <button type="button" class="tool" onClick={() => setKeys(true)}>
            Keys
          </button>
        </p>
      </footer>
      <Keys open={keys} close={() => setKeys(false)} />
    </>
  );
}
