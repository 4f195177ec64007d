// What the page finds would change answers: jobs come as JSON, what was found goes out.
const { open } = await import(new URL("sheet.mjs", process.argv[2]));
const { changes, targets } = await import(new URL("changes.mjs", process.argv[2]));

let text = "";
for await (const piece of process.stdin) text += piece;
const found = JSON.parse(text).map(({ sheet, rows, locked = [] }) => {
  const model = open(sheet);
  return rows.map((row) => {
    const [target] = targets(model, row), { fewest, least, limit, suggestions } = changes(model, row, { target, locked });
    const shown = suggestions.map(({ moves, posterior }) => ({ moves: moves.map(({ name, to, words }) => [name, to, words]), posterior: [...posterior] }));
    return { target: model.classes[target], fewest, least, limit, suggestions: shown };
  });
});
process.stdout.write(JSON.stringify(found));
