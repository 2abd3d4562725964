// Merge, update and close go through the API with the key in a header, so that the key is in no URL and no form body.
const form = document.getElementById("end");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = document.getElementById("answer");
  answer.textContent = "…";
  try {
    const response = await fetch(`${location.pathname.replace(/\/$/, "")}/${event.submitter.value}`, {
      method: "POST",
      headers: { authorization: `Bearer ${document.getElementById("key").value.trim()}` },
    });
    const told = await response.json();
    if (told.updated === false) {
      answer.textContent = "The branch has all of its base already.";
    } else if (response.ok) {
      location.reload();
    } else {
      answer.textContent = told.error;
    }
  } catch (error) {
    answer.textContent = `The server could not be reached: ${error.message}`;
  }
});
