#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/lessons/lesson.h"

namespace sonde::lessons {

/// A lesson with the nodes of one model. Immutable.
class BoundLesson {
  public:
    /// Finds the node of each name. Takes time by the size of the graph for each name. `modules`: may be null; kept, as
    /// the lesson may be read after its document is closed.
    /// `isReached`: whether the last run computed a node; of several that could be meant, such ones are. `hasNan`: a
    /// value of that run has one.
    BoundLesson(Lesson lesson, std::shared_ptr<const graph::InternalGraph> graph,
                std::shared_ptr<const graph::ModuleTree> modules = nullptr,
                const std::function<bool(graph::NodeId)>& isReached = {}, bool hasNan = false);

    const Lesson& lesson() const { return m_lesson; }
    const graph::InternalGraph& graph() const { return *m_graph; }
    /// What the model lacks: "a convolution". Empty: the lesson can be had with it.
    const std::vector<std::string>& missing() const { return m_missing; }
    /// "the lesson needs a convolution and a residual connection, which the model has not".
    std::string missingText() const;
    /// The node of a name; invalid if it is not bound.
    graph::NodeId node(const std::string& name) const;
    /// The node of each name that is bound.
    const std::map<std::string, graph::NodeId>& bound() const { return m_bound; }
    /// Whether one of them is in a branch or a loop, so that which ones are meant depends on what a run computes.
    bool dependsOnRun() const;
    /// The steps that the model has everything for, as indices in Lesson::steps.
    const std::vector<std::size_t>& steps() const { return m_steps; }

    /// Every node that a source means, in the order of the program.
    std::vector<graph::NodeId> nodes(const Source& source) const;
    /// The text with nodes in place of names, as expressions and edits take them: "max(`#12`)".
    std::string withNodes(std::string_view text) const;

  private:
    std::vector<graph::NodeId> limited(std::vector<graph::NodeId> nodes, const Source& source) const;
    std::vector<graph::NodeId> ofModule(const std::string& pattern) const;

    Lesson m_lesson;
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::shared_ptr<const graph::ModuleTree> m_modules;
    std::map<std::string, graph::NodeId> m_bound;
    std::vector<std::string> m_missing;
    bool m_isUnfit = false;  ///< for the values of the last run
    std::vector<std::size_t> m_steps;
};

}  // namespace sonde::lessons
