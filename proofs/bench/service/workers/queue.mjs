/** What workerd's binding of a queue speaks to: takes each message, and keeps none. */
const TAKEN = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };

export default {
  async fetch(request) {
    await request.arrayBuffer();
    return Response.json(TAKEN);
  },
};
