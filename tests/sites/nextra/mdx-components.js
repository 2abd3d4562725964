export {useMDXComponents} from 'nextra/mdx-components';
