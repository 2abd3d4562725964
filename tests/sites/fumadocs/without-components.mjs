// A remark plugin that builds an MDX page without the components and the values it imports: a component is replaced by
// its content, with its `id`, `href` and `src`, and expressions are omitted.
export const withoutComponents = () => (tree) => {
  const plain = (node) => {
    if (!node.children) return;
    node.children = node.children.filter(({type}) => !/^mdx(jsEsm|FlowExpression|TextExpression)$/.test(type));
    if (/^mdxJsx/.test(node.type)) {
      node.attributes = node.attributes.filter(({name, value}) => name && (value === null || typeof value === 'string'));
      if (!/^[a-z][a-z0-9-]*$/.test(node.name ?? '')) {
        node.attributes = node.attributes.filter(({name, value}) => ['id', 'href', 'src'].includes(name) && value !== null);
        const names = node.attributes.map(({name}) => name);
        node.name = names.includes('href') ? 'a' : names.includes('src') ? 'img' : 'div';
        if (node.name === 'img') node.children = [];
      } else {
        // React accepts neither styles as text nor handlers as text.
        node.attributes = node.attributes.filter(({name}) => !/^(style|on.*|class)$/.test(name));
      }
    }
    node.children.forEach(plain);
  };
  plain(tree);
};
