// A remark plugin that lets a page of MDX be built without the components and the values it imports: a component passes on
// what is in it, with its `id`, `href` and `src`, and expressions are left out.
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
        // React knows no styles that are texts, and no handlers.
        node.attributes = node.attributes.filter(({name}) => !/^(style|on.*|class)$/.test(name));
      }
    }
    node.children.forEach(plain);
  };
  plain(tree);
};
