-- What is forgotten is found by when a thread began: it was touched no sooner than that. An index less to write to with each
-- question.

DROP INDEX threads_to_forget;
