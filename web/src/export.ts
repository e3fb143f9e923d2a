// Writes what is on screen as one HTML file: styles and pictures inside, no script, nothing left to load.
import type { Run } from "./server";

async function asData(address: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`a picture cannot be read: ${address}`);
  const blob = await response.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("a picture cannot be read"));
    reader.readAsDataURL(blob);
  });
}

function stylesheet(): string {
  return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
}

// What people typed or chose is a property, which a copy of the page would lose.
function fixFields(from: Element, to: Element): void {
  const originals = from.querySelectorAll("input,select,textarea");
  const copies = to.querySelectorAll("input,select,textarea");
  originals.forEach((original, k) => {
    const copy = copies[k];
    if (!copy) return;
    if (original instanceof HTMLInputElement) {
      if (original.type === "checkbox" || original.type === "radio") copy.toggleAttribute("checked", original.checked);
      else copy.setAttribute("value", original.value);
    } else if (original instanceof HTMLTextAreaElement) {
      copy.textContent = original.value;
    } else if (original instanceof HTMLSelectElement) {
      [...copy.querySelectorAll("option")].forEach((option, index) =>
        option.toggleAttribute("selected", index === original.selectedIndex),
      );
    }
    copy.setAttribute("disabled", "");
  });
}

async function inParts<T>(items: T[], atOnce: number, action: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await action(item);
    }),
  );
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function readable(address: string): string {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

async function pageAsFile(program: string, run: Run | undefined): Promise<string> {
  const original = document.getElementById("page-main");
  if (!original) throw new Error("there is no page to write");
  const copy = original.cloneNode(true) as HTMLElement;
  fixFields(original, copy);
  for (const part of copy.querySelectorAll("[data-export=no]")) part.remove();
  for (const anchor of copy.querySelectorAll("a[href]")) {
    const plain = document.createElement("span");
    plain.className = anchor.className;
    plain.append(...anchor.childNodes);
    anchor.replaceWith(plain);
  }
  for (const button of copy.querySelectorAll("button")) button.setAttribute("disabled", "");
  copy.removeAttribute("tabindex");
  const pictures = new Map<string, Element[]>();
  for (const picture of copy.querySelectorAll("img[src],image[href]")) {
    const key = picture.getAttribute("src") ?? picture.getAttribute("href") ?? "";
    if (key.startsWith("data:")) continue;
    pictures.set(key, [...(pictures.get(key) ?? []), picture]);
  }
  await inParts([...pictures], 6, async ([address, places]) => {
    const data = await asData(address);
    for (const place of places) {
      place.setAttribute(place.tagName.toLowerCase() === "img" ? "src" : "href", data);
      place.removeAttribute("loading");
    }
  });
  const line = [
    run ? `From the run ${run.label} (${run.folder})` : "From Partwise",
    `written by ${program} on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
    `address ${readable(location.hash || "#/")}`,
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(document.title)}</title>
<style>
${stylesheet().replaceAll("</", "<\\/")}
</style>
</head>
<body>
<p class="exported">${escaped(line)}</p>
${copy.outerHTML}
</body>
</html>
`;
}

export async function exportPage(program: string, run: Run | undefined): Promise<string> {
  const html = await pageAsFile(program, run);
  const name = ["partwise", ...document.title.split(" · ").slice(0, -1).reverse()]
    .join("-")
    .replace(/[^\p{L}\p{N}+-]+/gu, "-")
    .slice(0, 80);
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  anchor.download = `${name}.html`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  return `${anchor.download}, ${(html.length / 1e6).toFixed(1)} MB`;
}
