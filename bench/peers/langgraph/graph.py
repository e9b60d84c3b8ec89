# A graph of LangGraph that does nothing.
from typing import TypedDict

from langgraph.graph import StateGraph


class State(TypedDict, total=False):
    task: str
    result: str


def run(_: State) -> State:
    return {"result": ("Done. " * 34)[:200]}


graph = StateGraph(State).add_node("run", run).add_edge("__start__", "run").add_edge("run", "__end__").compile()
