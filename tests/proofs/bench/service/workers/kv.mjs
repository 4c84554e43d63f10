/**
 * Workers KV in memory, for load tests. It uses the protocol of workerd's KV binding. It keeps every record
 * that was read at least once. Of the other records, it keeps only the newest, so that memory does not grow
 * with the number of create requests.
 */

const METADATA = "CF-KV-Metadata";
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

const kept = new Map();
const unread = new Map();
let unreadBytes = 0;

function put(name, record) {
  if (kept.has(name) || !name.startsWith("transaction:")) return kept.set(name, record);
  unread.set(name, record);
  unreadBytes += record.value.byteLength;
  for (const [oldest, { value }] of unread) {
    if (unreadBytes <= MOST_UNREAD_BYTES) break;
    unread.delete(oldest);
    unreadBytes -= value.byteLength;
  }
}

function get(name) {
  const record = kept.get(name) ?? unread.get(name);
  if (record && unread.delete(name)) {
    unreadBytes -= record.value.byteLength;
    kept.set(name, record);
  }
  return record;
}

function nameOf(url) {
  const start = url.indexOf("/", url.indexOf("://") + 3) + 1;
  const end = url.indexOf("?", start);
  return decodeURIComponent(url.slice(start, end < 0 ? undefined : end));
}

export default {
  async fetch(request) {
    const name = nameOf(request.url);
    if (request.method === "PUT") {
      put(name, { value: await request.arrayBuffer(), metadata: request.headers.get(METADATA) });
      return new Response(null);
    }
    const record = get(name);
    if (!record) return new Response("Not Found", { status: 404 });
    return new Response(record.value, {
      headers: record.metadata === null ? {} : { [METADATA]: record.metadata },
    });
  },
};
