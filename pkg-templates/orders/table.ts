/* The table by which bodies are read. `src/pledges/orders/table.rs` describes it. */
import { SYSTEMS, TABLE } from "../generated/orders.ts";

/** A shop system, or a payment service whose checkout is the shop. */
export type System = (typeof SYSTEMS)[number];

/** Paths, of which the first counts that fits, and the name of what is there. */
export type Row = [paths: string[], name: string];

/** What the table says of one system, in the order of `tests/native/generated/orders_table.rs`. */
export type Table = [bodies: Row[], order: Row[], line: Row[], refund: Row[], refundOfOrder: Row[]];

/** Reads the cells of one system. A row has a cell for each system, and then its name. */
export const tableOf = (system: System): Table =>
  TABLE.split("\n\n").map((block) =>
    block.split("\n").map((row) => {
      const cells = row.split(" ");
      return [cells[SYSTEMS.indexOf(system)]!.split(",").filter(Boolean), cells.at(-1)];
    }),
  ) as unknown as Table;
