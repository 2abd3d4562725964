class Program {}
