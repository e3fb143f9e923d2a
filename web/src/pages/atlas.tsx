// Every filter of a layer as a tile.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { choose, link } from "../address";
import { share } from "../charts/scale";
import { useKeys } from "../keys";
import { Trouble, useLoaded, Waiting } from "../loading";
import { api, type Column, type Filter, type Filters, type Layer, type Run } from "../server";
import { count, hint, shown } from "../words";
import { arranged, falls, grouped, measure, type Range, rangesOf, rangeText, unnamed } from "./arrangement";

interface TileProps {
  run: Run;
  layer: Layer;
  filter: Filter;
  column: Column | undefined;
  most: number;
  query: URLSearchParams;
}

function Tile(props: TileProps): JSX.Element {
  const { run, layer, filter, column } = props;
  const value = column ? measure(filter, column.key) : null;
  const said = [
    `filter ${filter.filter}`,
    filter.silent ? "silent" : filter.name || unnamed,
    filter.category,
    column ? `${column.title} ${shown(column, value)}` : "",
  ];
  return (
    <a
      class={filter.silent ? "tile silent" : "tile"}
      href={link([run.id, layer.name, filter.filter], props.query)}
      title={said.filter(Boolean).join(", ")}
    >
      <img src={api.tile(run.id, layer.name, filter.filter)} alt={`${filter.silent ? "silent" : filter.name || unnamed}, ${filter.category}, filter`} loading="lazy" decoding="async" width="96" height="96" />
      {column && (
        <svg class="gauge" width="100%" height="3" aria-hidden="true">
          <rect x="0" y="0" height="3" width={share(value === null || props.most === 0 ? 0 : Math.min(1, Math.abs(value) / props.most))} />
        </svg>
      )}
      <span class="tile-words">
        <span>
          {filter.filter}
          {filter.named_by === "people" && <span class="by-people" title="named by people" />}
        </span>
        {column ? <span>{shown(column, value)}</span> : filter.silent ? <span>silent</span> : null}
      </span>
    </a>
  );
}

function Ranges(props: { columns: Column[]; ranges: Range[] }): JSX.Element {
  const { columns, ranges } = props;
  const write = (changed: Range[]): void => choose({ range: changed.map(rangeText) });
  return (
    <>
      {ranges.map((range, k) => {
        const title = columns.find((one) => one.key === range.key)?.title ?? range.key;
        const bound = (side: "low" | "high"): JSX.Element => (
          <input
            type="number"
            step="any"
            aria-label={`${title}, ${side === "low" ? "at least" : "at most"}`}
            placeholder={side === "low" ? "from" : "to"}
            value={range[side]}
            onInput={(event) => write(ranges.map((one, j) => (j === k ? { ...one, [side]: event.currentTarget.value } : one)))}
          />
        );
        return (
          <span key={k} class="range">
            {title} {bound("low")} {bound("high")}
            <button type="button" class="plain" aria-label={`without the range of ${title}`} onClick={() => write(ranges.filter((_, j) => j !== k))}>
              ×
            </button>
          </span>
        );
      })}
      <select
        aria-label="Filter by a measure"
        value=""
        onChange={(event) => {
          if (event.currentTarget.value) write([...ranges, { key: event.currentTarget.value, low: "", high: "" }]);
          event.currentTarget.value = "";
        }}
      >
        <option value="">by a measure …</option>
        {columns.map((column) => (
          <option key={column.key} value={column.key}>
            {column.title}
          </option>
        ))}
      </select>
    </>
  );
}

function Choice(props: { label: string; name: string; query: URLSearchParams; options: [string, string][] }): JSX.Element {
  return (
    <label>
      {props.label}{" "}
      <select value={props.query.get(props.name) ?? ""} onChange={(event) => choose({ [props.name]: event.currentTarget.value })}>
        {props.options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Atlas(props: { run: Run; layer: Layer; query: URLSearchParams }): JSX.Element {
  const { run, layer, query } = props;
  const { data, error, reload } = useLoaded<Filters>(api.filters(run.id, layer.name));
  // Names come once the parts are learnt.
  const knew = useRef(run.knows_parts);
  useEffect(() => {
    if (knew.current !== run.knows_parts) reload();
    knew.current = run.knows_parts;
  }, [run.knows_parts]);
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const list = useMemo(() => (data ? arranged(data, query) : []), [data, query.toString()]);
  const column = data?.columns.find((one) => one.key === query.get("sort"));
  const most = useMemo(
    () => (data && column ? Math.max(0, ...data.filters.map((filter) => Math.abs(measure(filter, column.key) ?? 0))) : 0),
    [data, column],
  );
  useEffect(() => {
    if (search.current && search.current !== document.activeElement) search.current.value = query.get("q") ?? "";
  }, [query.get("q"), data]);
  const silent = data?.filters.filter((filter) => filter.silent).length ?? 0;
  const parts = [...new Set(data?.filters.map((filter) => filter.name || unnamed))].sort();
  const narrowed = ["q", "category", "part", "named", "silent", "range"].some((key) => query.has(key));
  const tile = (filter: Filter): JSX.Element => (
    <Tile key={filter.filter} run={run} layer={layer} filter={filter} column={column} most={most} query={query} />
  );
  return (
    <>
      <p class="kicker">{run.label}</p>
      <h1>
        {`Filters of ${layer.name}`}
        {layer.role && layer.role !== layer.name && <span class="sub"> {layer.role}</span>}
      </h1>
      {run.layers.length > 1 && (
        <p class="segments" data-export="no">
          {run.layers.map((one) => (
            <a key={one.name} href={link([run.id, one.name], query)} aria-current={one.name === layer.name ? "true" : undefined}>
              {one.name}
            </a>
          ))}
        </p>
      )}
      {error && <Trouble error={error} again={reload} />}
      {!data && !error && <Waiting what="Looking at the filters" />}
      {data && (
        <>
          <form class="controls" role="search" data-export="no" onSubmit={(event) => event.preventDefault()}>
            <label class="search">
              Search{" "}
              <input ref={search} type="search" placeholder="name, number, note" onInput={(event) => choose({ q: event.currentTarget.value })} />
            </label>
            <Choice label="Category" name="category" query={query} options={[["", "all"], ...run.categories.map((one): [string, string] => [one, one])]} />
            <Choice label="Part" name="part" query={query} options={[["", "all"], ...parts.map((one): [string, string] => [one, one])]} />
            <Choice label="Named" name="named" query={query} options={[["", "either"], ["yes", "yes"], ["no", "no"]]} />
            <Choice label="Silent" name="silent" query={query} options={[["", "either"], ["yes", "yes"], ["no", "no"]]} />
            <Ranges columns={data.columns} ranges={rangesOf(query)} />
            <span class="break" />
            <Choice
              label="Sort by"
              name="sort"
              query={query}
              options={[["", "number"], ...data.columns.map((one): [string, string] => [one.key, one.title])]}
            />
            {column && (
              <button type="button" class="tool" onClick={() => choose({ down: falls(query, data) ? "0" : "1" })}>
                {falls(query, data) ? "largest first" : "smallest first"}
              </button>
            )}
            <Choice label="Group" name="group" query={query} options={[["", "by category and part"], ["none", "none"]]} />
            {(narrowed || column) && (
              <a class="tool" href={link([run.id, layer.name])}>
                Start over
              </a>
            )}
          </form>
          <p class="note" role="status">
            {narrowed ? `${list.length} of ${count(data.filters.length, "filter")}` : count(data.filters.length, "filter")}
            {`, ${silent === 0 ? "none" : silent} of them silent. `}
            {column ? `${column.title}${column.better ? `: ${hint(column.better)}` : ""}. ${column.meaning}` : "Each tile is the photograph on which the filter fires most, lit where its evidence lies."}
          </p>
          {run.learning && <p class="note">It is learning which parts the filters stand for, from the training images; names come when it is done.</p>}
          {list.length === 0 && <p>No filter is like that.</p>}
          {query.get("group") === "none" ? (
            <div class="tiles">{list.map(tile)}</div>
          ) : (
            grouped(list, run.categories).map((category) => (
              <section key={category.category} class="category" aria-label={category.category}>
                <h2>
                  {category.category || "no category"} <span class="hint">{count(category.count, "filter")}</span>
                </h2>
                <div class="part-groups">
                {category.parts.map((part) => (
                  <div key={part.part} class={part.silent ? "part silent" : "part"}>
                    <h3>
                      {part.part} <span class="hint">{part.filters.length}</span>
                    </h3>
                    <div class="tiles">{part.filters.map(tile)}</div>
                  </div>
                ))}
                </div>
              </section>
            ))
          )}
        </>
      )}
    </>
  );
}
