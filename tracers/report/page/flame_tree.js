/*
 * The tree of the flame graph: for each node its parent, name, own and total amount, and its callees,
 * the greatest first. Node 0 is the whole; its children are processes or, if merged, functions.
 */

function flameTree(nodes) {
  const count = nodes.length;
  const tree = { count, parent: new Int32Array(count), name: new Int32Array(count), depth: new Int32Array(count),
    own: new Float64Array(count), total: new Float64Array(count), called: Array.from({ length: count }, () => []) };
  for (let i = count - 1; i >= 0; i--) {
    [tree.parent[i], tree.name[i], tree.own[i]] = nodes[i];
    tree.total[i] += tree.own[i];
    if (i > 0) tree.total[nodes[i][0]] += tree.total[i];
  }
  for (let i = 1; i < count; i++) {
    tree.depth[i] = tree.depth[tree.parent[i]] + 1;
    tree.called[tree.parent[i]].push(i);
  }
  for (const called of tree.called)
    if (called.length > 1) called.sort((a, b) => tree.total[b] - tree.total[a]);
  return tree;
}

/*
 * Merges the equal stacks of all PROCESSES, or the frames of a function that calls itself (FOLDED).
 * TO[i] is the new index of node i.
 */
function mergedNodes(nodes, processes, folded) {
  const made = [[0, REST, nodes[0][2]]], to = new Int32Array(nodes.length), children = [new Map()];
  for (let i = 1; i < nodes.length; i++) {
    const [parent, name, own] = nodes[i], above = to[parent], below = children[above];
    const itself = folded && above !== 0 && made[above][1] === name;
    if (itself || (processes && parent === 0)) to[i] = above;
    else {
      if (!below.has(name)) {
        below.set(name, made.length);
        made.push([above, name, 0]);
        children.push(new Map());
      }
      to[i] = below.get(name);
    }
    made[to[i]][2] += own;
  }
  return made;
}

/* Returns the amount in MARKED nodes and below them, each moment counted once. */
function markedTotal(tree, marked) {
  const within = new Uint8Array(tree.count);
  let sum = 0;
  for (let i = 0; i < tree.count; i++) {
    const above = i > 0 && within[tree.parent[i]];
    if (marked[i] && !above) sum += tree.total[i];
    within[i] = marked[i] || above ? 1 : 0;
  }
  return sum;
}
