// One filter at a stable address: where it fires, where it matters, its numbers, its neighbours, its name.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { choose, go, here, link } from "../address";
import { Histogram } from "../charts/histogram";
import { Evidence } from "../charts/interval";
import { useKeys } from "../keys";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, type Filter, type FilterPage, type Filters, get, type Layer, type Picture, type Run, type View, views } from "../server";
import { number, percent, signed } from "../words";
import { inOrder } from "./arrangement";
import { NameForm } from "./name_form";

const viewWords: Record<View, { title: string; says: string }> = {
  crop: { title: "Photograph", says: "What the network saw; the ring is where the filter’s map peaks." },
  map: { title: "Map", says: "The filter’s map on this image, before the mask." },
  mask: { title: "Mask", says: "The template that fits the peak: what it hides is dark." },
  masked: { title: "Masked map", says: "The map after the mask: what the next layer sees." },
  field: { title: "Field", says: "The photograph, lit where the evidence of the peak lies." },
};

function viewOf(query: URLSearchParams, offered: View[]): View {
  const asked = query.get("view");
  return offered.find((view) => view === asked) ?? "field";
}

function Photo(props: { run: Run; picture: Picture; view: View; change?: boolean }): JSX.Element {
  const { run, picture, view } = props;
  const source = picture.pictures[view] ?? picture.pictures.crop;
  const verdict = picture.right ? picture.decision : `taken for ${picture.decision}`;
  const amount = props.change
    ? signed(picture.change)
    : `${number(picture.peak)}${picture.share !== null ? `, ${percent(picture.share).replace(/\.\d+/, "")}` : ""}`;
  return (
    <a class="photo" href={link([run.id, "@photograph"], { row: picture.row })} title={`${picture.file}: ${picture.category}, ${verdict}`}>
      <span class="frame">
        {source && (
          <img
            src={source}
            alt={`${viewWords[view].title} of ${picture.file}, ${picture.category}`}
            loading="lazy"
            decoding="async"
            width="160"
            height="160"
          />
        )}
        {view === "crop" && picture.x !== null && picture.y !== null && (
          <svg class="ring" viewBox="0 0 100 100" aria-hidden="true">
            <circle class="halo" cx={100 * picture.x} cy={100 * picture.y} r="9" />
            <circle class="line" cx={100 * picture.x} cy={100 * picture.y} r="9" />
          </svg>
        )}
      </span>
      <span class="photo-words">
        <span>{amount}</span>
        <span class={picture.right ? "" : "worse"}>{picture.right ? picture.category : `${picture.category} → ${picture.decision}`}</span>
      </span>
    </a>
  );
}

function Band(props: {
  title: string;
  says: string;
  run: Run;
  pictures: Picture[];
  view: View;
  change?: boolean;
  nothing: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <section class="band">
      <h2>{props.title}</h2>
      <p class="note">{props.says}</p>
      {props.pictures.length === 0 ? (
        <p class="note">{props.nothing}</p>
      ) : (
        <div class="photos">
          {props.pictures.map((picture) => (
            <Photo key={picture.row} run={props.run} picture={picture} view={props.view} change={props.change ?? false} />
          ))}
        </div>
      )}
    </section>
  );
}

const sources: Record<Filter["named_by"], string> = {
  people: "named by people",
  parts: "named by the part its evidence lies on",
  place: "named by its place",
  "": "stands for no part we could name",
};

export function FilterView(props: { run: Run; layer: Layer; filter: number; query: URLSearchParams; canName: boolean }): JSX.Element {
  const { run, layer, query } = props;
  const { data, error, reload, put } = useLoaded<FilterPage>(api.filter(run.id, layer.name, props.filter));
  const list = useLoaded<Filters>(api.filters(run.id, layer.name));
  const nameField = useRef<HTMLInputElement>(null);
  const offered = views.filter((one) => layer.has_mask !== false || (one !== "mask" && one !== "masked"));
  const view = viewOf(query, offered);
  const order = list.data ? inOrder(list.data, query, run.categories) : [];
  const placed = (filter: number): number => order.findIndex((one) => one.filter === filter);
  const at = placed(props.filter);
  const beside = (step: number, from = at): string | null => {
    const other = from < 0 ? order[0] : order[from + step];
    return other ? link([run.id, layer.name, other.filter], query) : null;
  };
  const [previous, next] = [beside(-1), beside(1)];
  // A key may come before the page of the last one is drawn: it goes on from the address.
  const walk = (step: number): void => {
    const other = beside(step, placed(Number(here().path[2])));
    if (other) go(other);
  };
  const atlas = new URLSearchParams(query);
  atlas.delete("view");
  useKeys({
    j: () => walk(1),
    k: () => walk(-1),
    v: () => choose({ view: offered[(offered.indexOf(viewOf(here().query, offered)) + 1) % offered.length] }),
    a: () => go(link([run.id, layer.name], atlas)),
    n: () => nameField.current?.focus(),
  });
  useEffect(() => {
    // The next filter is most likely what one looks at next.
    const after = order[at + 1];
    if (data && after) void get(api.filter(run.id, layer.name, after.filter)).catch(() => undefined);
  }, [data !== null, at]);
  const silent = data?.silent ?? false;
  return (
    <>
      <nav class="beside" aria-label="Filters" data-export="no">
        <a href={link([run.id, layer.name], atlas)}>{`Atlas of ${layer.name}`}</a>
        <span class="pair">
          {previous ? <a href={previous} rel="prev">← previous</a> : <span class="note">← previous</span>}
          {at >= 0 && <span class="note">{`${at + 1} of ${order.length}`}</span>}
          {next ? <a href={next} rel="next">next →</a> : <span class="note">next →</span>}
        </span>
      </nav>
      <p class="kicker">{`${run.label}, ${layer.name}, filter ${props.filter}`}</p>
      <h1>
        {data ? (data.name === "" ? `Filter ${props.filter}` : data.name) : `Filter ${props.filter}`}
        {data?.category && <span class="sub"> {data.category}</span>}
      </h1>
      {error && <Trouble error={error} again={reload} />}
      {!data && !error && <Waiting what="Looking where it fires" />}
      {data && (
        <>
          <p class="facts">
            <span>{sources[data.named_by]}</span>
            {silent && <span class="worse">silent: it fires on hardly any image, so its pictures show nothing</span>}
            {data.note && <span class="said">“{data.note}”</span>}
          </p>
          {!data.bands && <p class="warnings">{data.why || "Its images are not there."}</p>}
          {data.bands && (<><fieldset class="views" data-export="no">
            <legend class="unseen">What the images show</legend>
            {offered.map((one) => (
              <label key={one}>
                <input type="radio" name="view" value={one} checked={one === view} onChange={() => choose({ view: one })} />
                <span>{viewWords[one].title}</span>
              </label>
            ))}
          </fieldset>
          <p class="note">{viewWords[view].says} Under each image: how strongly the filter fires, and that as a share of its strongest.</p></>)}
          <div class="filter-page">
            <div class="seen">{data.bands && (<>
              <div class="two">
                <Band
                  title="Where it fires most"
                  says={`Its strongest images of ${data.category || "all"}.`}
                  run={run}
                  pictures={data.bands.strongest}
                  view={view}
                  nothing="It fires on none."
                />
                <Band
                  title="Where it matters most"
                  says="Silencing it changes the decision’s score most here, by so many logits."
                  run={run}
                  pictures={data.matters}
                  view={view}
                  change
                  nothing="Silencing it changes no decision’s score."
                />
              </div>
              <Band
                title="Strongest wrong images"
                says={`Where it fires most on what is no ${data.category || "image of its category"}.`}
                run={run}
                pictures={data.bands.wrong}
                view={view}
                nothing="It fires on no other category."
              />
              <div class="two">
                <Band title="In the middle" says="From the middle of the images it fires on." run={run} pictures={data.bands.middle} view={view} nothing="None lies there." />
                <Band title="Weak" says="The weakest it still fires on." run={run} pictures={data.bands.weak} view={view} nothing="None lies there." />
              </div></>)}
              {data.nearest.length > 0 && (
                <section>
                  <h2>Nearest filters</h2>
                  <p class="note">Their peaks rise and fall with this one’s over all images; the number is the correlation.</p>
                  <div class="tiles nearest">
                    {data.nearest.map((one) => (
                      <a
                        key={one.filter}
                        class="tile"
                        href={link([run.id, layer.name, one.filter], query)}
                      >
                        <img src={api.tile(run.id, layer.name, one.filter)} alt="filter" loading="lazy" width="96" height="96" />
                        <span class="tile-words">
                          <span>{one.filter}</span>
                          <span>{number(one.correlation)}</span>
                        </span>
                        <span class="tile-name">{one.name ? `${one.name}, ${one.category}` : one.category}</span>
                      </a>
                    ))}
                  </div>
                </section>
              )}
            </div>
            <aside class="told" aria-label="Numbers and name">
              {props.canName && (
                <NameForm
                  key={`${props.filter}:${data.revision}`}
                  run={run}
                  layer={layer}
                  filter={data}
                  names={list.data?.filters.map((one) => one.name) ?? []}
                  field={nameField}
                  saved={(page) => {
                    put(page);
                    list.reload();
                  }}
                  merged={() => {
                    reload();
                    list.reload();
                  }}
                />
              )}
              {data.histogram && (
                <section>
                  <h2>Own category and others</h2>
                  <Histogram histogram={data.histogram} category={data.category} />
                </section>
              )}
              <section>
                <h2>Its numbers</h2>
                {data.evidence.length === 0 && <p class="note">There are none for this filter.</p>}
                {data.evidence.map((finding) => (
                  <Evidence key={finding.key} finding={finding} />
                ))}
              </section>
            </aside>
          </div>
        </>
      )}
    </>
  );
}
