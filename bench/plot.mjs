/** Pictures as SVG text: horizontal bars in groups, and lines on logarithmic or plain axes. Light and dark by themselves. */

const COLOURS = [
  "#0b7a53",
  "#c2571a",
  "#3566b8",
  "#8a4fb0",
  "#b08a00",
  "#3b8f9c",
  "#a83a5b",
  "#777777",
];
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .quiet { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .back { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; } .back { fill: #0d1117; }
  }`;

const escape = (text) =>
  String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
const text = (x, y, content, more = "") =>
  `<text x="${round(x)}" y="${round(y)}" ${more}>${escape(content)}</text>`;
const round = (value) => Math.round(value * 10) / 10;

function svg(width, height, title, parts) {
  const back = `<rect class="back" width="${width}" height="${height}" rx="6"/>`;
  const head = text(16, 26, title, 'class="title"');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}"><style>${STYLE}\n</style>\n${[back, head, ...parts].join("\n")}\n</svg>\n`;
}

const BAR = { left: 220, width: 860, height: 15, gap: 3, group: 20, top: 46, right: 150 };

/**
 * Longer is better, within each group by itself.
 * @param {string} title
 * @param {{label: string, bars: {name: string, value: number, note: string}[]}[]} groups
 */
export function bars(title, groups) {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const parts = [];
  let y = BAR.top;
  for (const { label, bars } of groups) {
    parts.push(text(16, y + 12, label));
    const most = Math.max(...bars.map(({ value }) => value));
    for (const { name, value, note } of bars) {
      const length = Math.max(1, (value / most) * (BAR.width - BAR.left - BAR.right));
      parts.push(
        `<rect x="${BAR.left}" y="${y}" width="${round(length)}" height="${BAR.height}" rx="2" fill="${colour(names, name)}"/>`,
      );
      parts.push(text(BAR.left + length + 6, y + 12, note, 'class="quiet"'));
      y += BAR.height + BAR.gap;
    }
    y += BAR.group;
  }
  const { parts: legend, height } = legendOf(names, y);
  return svg(BAR.width, y + height, title, [...parts, ...legend]);
}

const colour = (names, name) => COLOURS[names.indexOf(name) % COLOURS.length];

const LEGEND = { columns: 4, width: 185, height: 20 };

function legendOf(names, top) {
  const parts = names.map((name, index) => {
    const x = 16 + (index % LEGEND.columns) * LEGEND.width;
    const y = top + Math.floor(index / LEGEND.columns) * LEGEND.height;
    return `<rect x="${x}" y="${y}" width="12" height="12" rx="2" fill="${colour(names, name)}"/>${text(x + 18, y + 11, name)}`;
  });
  return { parts, height: Math.ceil(names.length / LEGEND.columns) * LEGEND.height + 8 };
}

const PLOT = { width: 760, height: 380, left: 90, right: 30, top: 50, bottom: 60 };

/**
 * @param {string} title
 * @param {{label: string, logarithmic?: boolean, format: (value: number) => string}} x
 * @param {{label: string, logarithmic?: boolean, format: (value: number) => string}} y
 * @param {{name: string, points: [number, number][]}[]} series
 */
export function lines(title, x, y, series) {
  const names = series.map(({ name }) => name);
  const across = scale(
    x,
    series.flatMap(({ points }) => points.map(([value]) => value)),
    PLOT.left,
    PLOT.width - PLOT.right,
  );
  const upward = scale(
    y,
    series.flatMap(({ points }) => points.map(([, value]) => value)),
    PLOT.height - PLOT.bottom,
    PLOT.top,
  );
  const grid = [
    ...upward.ticks.map(
      (tick) =>
        `<line class="grid" x1="${PLOT.left}" x2="${PLOT.width - PLOT.right}" y1="${round(upward.at(tick))}" y2="${round(upward.at(tick))}"/>${text(PLOT.left - 8, upward.at(tick) + 4, y.format(tick), 'text-anchor="end" class="quiet"')}`,
    ),
    ...across.ticks.map((tick) =>
      text(
        across.at(tick),
        PLOT.height - PLOT.bottom + 18,
        x.format(tick),
        'text-anchor="middle" class="quiet"',
      ),
    ),
    text(
      (PLOT.left + PLOT.width - PLOT.right) / 2,
      PLOT.height - PLOT.bottom + 38,
      x.label,
      'text-anchor="middle" class="quiet"',
    ),
    text(16, PLOT.top - 8, y.label, 'class="quiet"'),
  ];
  const drawn = series.map(({ name, points }) => {
    const path = points.map(([a, b]) => `${round(across.at(a))},${round(upward.at(b))}`);
    const dots = path.map(
      (point) =>
        `<circle cx="${point.replace(",", '" cy="')}" r="2.5" fill="${colour(names, name)}"/>`,
    );
    return `<polyline points="${path.join(" ")}" fill="none" stroke="${colour(names, name)}" stroke-width="2"/>${dots.join("")}`;
  });
  const { parts: legend, height } = legendOf(names, PLOT.height - 8);
  return svg(PLOT.width, PLOT.height + height, title, [...grid, ...drawn, ...legend]);
}

/** From values to places, with ticks: powers of ten, or some five round steps from 0. */
function scale({ logarithmic }, values, from, to) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (!logarithmic) {
    const ticks = plainTicks(most);
    return { ticks, at: (value) => from + (value / ticks.at(-1)) * (to - from) };
  }
  const [low, high] = [
    Math.floor(Math.log10(least)),
    Math.max(Math.ceil(Math.log10(most)), Math.floor(Math.log10(least)) + 1),
  ];
  const ticks = Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step));
  return { ticks, at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from) };
}

function plainTicks(most) {
  const rough = (most || 1) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= rough);
  return Array.from({ length: Math.ceil((most || 1) / step) + 1 }, (_, index) => index * step);
}
