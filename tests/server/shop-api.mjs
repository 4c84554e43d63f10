/**
 * The APIs of shop systems, for Workers of a test: requests to their hosts are answered here. Each shop is found by its token.
 * They list, sort and divide as their documentation says.
 */
const SHOPS = new Map();
/** The hosts that were asked. */
export const askedHosts = new Set();
const real = globalThis.fetch;

/** wrangler's harness sends what its Workers fetch through this function. */
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const { hostname } = new URL(request.url);
  askedHosts.add(hostname);
  return /\.example$|\.myshopify\.com$|^api\.(stripe|bigcommerce)\.com$/.test(hostname)
    ? answer(request)
    : real(input, init);
};

/**
 * Opens a shop. Orders are pairs of the time of the last change, in seconds since 1970, and the order.
 * @param {string} system
 * @param {string} token
 */
export function openShop(system, token) {
  const shop = { system, orders: [], status: 200 };
  SHOPS.set(token, shop);
  return shop;
}

function answer({ url, headers }) {
  const [kind, given = ""] = (headers.get("authorization") ?? "").split(" ");
  const token = kind === "Basic" ? atob(given) : given;
  const own = headers.get("x-shopify-access-token") ?? headers.get("x-auth-token") ?? token;
  const shop = SHOPS.get(own);
  if (!shop) return new Response(null, { status: 401 });
  if (shop.answer) return shop.answer();
  if (shop.status !== 200) return new Response(null, { status: shop.status });
  return APIS[shop.system](new URL(url), shop.orders);
}

const rfc3339 = (seconds) => new Date(seconds * 1_000).toISOString().slice(0, 19);

/** Returns a page of orders, oldest change first. */
function page(orders, isListed, query, dated) {
  const most = Number(query.get("per_page") ?? query.get("limit"));
  const from = (Number(query.get("page") ?? query.get("page_info") ?? 1) - 1) * most;
  const listed = orders.filter(([seconds]) => isListed(seconds)).sort(([a], [b]) => a - b);
  return listed.slice(from, from + most).map(([seconds, order]) => dated(seconds, order));
}

const APIS = {
  woocommerce({ searchParams: query }, orders) {
    const after = Date.parse(`${query.get("modified_after")}Z`) / 1_000;
    const dated = (seconds, order) => ({ ...order, date_modified_gmt: rfc3339(seconds) });
    return Response.json(page(orders, (seconds) => seconds > after, query, dated));
  },
  shopify({ searchParams: query, origin, pathname }, orders) {
    const since = Date.parse(query.get("updated_at_min") ?? "1970-01-01") / 1_000;
    const dated = (seconds, order) => ({
      ...order,
      updated_at: `${rfc3339(seconds + 3_600)}+01:00`,
    });
    const listed = page(orders, (seconds) => seconds >= since, query, dated);
    const number = Number(query.get("page_info") ?? 1) + 1;
    const link = `<${origin}${pathname}?page_info=${number}&limit=20>; rel="next"`;
    const headers = new Headers(
      listed.length === Number(query.get("limit")) ? { link } : undefined,
    );
    return Response.json({ orders: listed }, { headers });
  },
  bigcommerce({ searchParams: query, pathname }, orders) {
    const [, id, more] = pathname.match(/\/v2\/orders(?:\/(\d+)(\/products)?)?$/);
    const [, order] = orders.find(([, { id: own }]) => `${own}` === id) ?? [];
    const without = (seconds, it) => ({
      ...it,
      date_modified: new Date(seconds * 1_000).toUTCString().replace("GMT", "+0000"),
      products: { resource: `/orders/${it.id}/products` },
    });
    const from = (Number(query.get("page")) - 1) * 250;
    if (more) return Response.json(order.products.slice?.(from, from + 250) ?? order.products);
    if (id) return order ? Response.json(without(0, order)) : new Response(null, { status: 404 });
    const since = Date.parse(query.get("min_date_modified")) / 1_000;
    const listed = page(orders, (seconds) => seconds >= since, query, without);
    return listed.length > 0 ? Response.json(listed) : new Response(null, { status: 204 });
  },
  stripe({ searchParams: query, pathname }, orders) {
    const [, session] = pathname.match(/sessions\/(\w+)\/line_items$/) ?? [];
    if (session) {
      const [, event] = orders.find(([, { data }]) => data.object.id === session);
      const { items = [] } = event;
      const after = query.get("starting_after");
      const from = items.findIndex(({ id }) => `${id}` === after) + 1;
      return Response.json({
        data: items.slice(from, from + 100),
        has_more: items.length > from + 100,
      });
    }
    const from = Number(query.get("created[gte]"));
    const to = Number(query.get("created[lt]") ?? Number.MAX_SAFE_INTEGER);
    const found = orders.filter(([seconds]) => seconds >= from && seconds < to);
    found.sort(([a], [b]) => b - a);
    const data = found.map(([seconds, { items, ...event }]) => ({ ...event, created: seconds }));
    return Response.json({ data: data.slice(0, 100), has_more: data.length > 100 });
  },
};
