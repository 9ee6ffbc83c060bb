#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/memory.h"
#include "core/graph/view_overlap.h"
#include "core/passes/tensor_memory.h"
#include "core/passes/view_chain.h"

namespace sonde::passes {

/// Recorded from the operators and methods that users write, not from low-level operators.
inline bool isUserLevel(const Expr& expr) {
    return expr.kind == ExprKind::CallMethod || expr.op.domain == "prim" || expr.target.starts_with("operator.");
}

/// Walks over a program as it runs and knows for every tensor what it shares memory with. What is read behind a write
/// reads what was written: the result of the write, the base with the written part put in, or a view that is taken
/// again. Writes inside called modules and branches come out of them as further outputs.
///
/// What cannot be known is no error by itself: only if somebody reads it.
class InplaceWalk {
  public:
    explicit InplaceWalk(Rewrite& rewrite) : m_rewrite(rewrite), m_graph(rewrite.graph()) {}

    /// Errors (Run): a read of what cannot be known, a write that PyTorch refuses; by the name and position of the
    /// write.
    base::Result<void> run();

    /// Writes of which somebody read the effect by an older name.
    const std::set<ExprId>& effective() const { return m_effective; }
    /// Exprs made here, in the order in which they were made.
    const std::vector<ExprId>& inserted() const { return m_inserted; }
    /// Views through which was written.
    const std::set<ExprId>& writtenViews() const { return m_writtenViews; }
    /// What was `unsqueeze_` and the like, and is a view now.
    const std::set<ExprId>& reformed() const { return m_reformed; }
    /// Writes with a check in front of them that only a run can make.
    const std::set<ExprId>& guarded() const { return m_guarded; }

  private:
    using Id = TensorMemory::Id;
    static constexpr Id kNone = TensorMemory::kNone;

    /// A tensor that a body has from outside.
    struct Entry {
        Id object = kNone;        ///< in the body
        Id outer = kNone;         ///< in the frame around it
        std::size_t version = 0;  ///< of the body's storage before the body wrote to it
    };
    /// A body that is walked over.
    struct Frame {
        BodyId body;
        ExprId owner;
        Frame* outer = nullptr;
        TensorMemory memory;
        std::vector<Entry> entries;
        Argument result;                             ///< as the program named it
        std::map<std::string, Id> attributes;        ///< of the main body: objects of attributes and constants
        std::map<NodeId, std::vector<NodeId>> held;  ///< lists and tuples that were made of these tensors
        std::map<NodeId, std::map<std::int64_t, Id>> elements;  ///< objects taken out of tuples that calls gave
        std::map<NodeId, Id> lists;                             ///< lists of views: the place that they are cut out of
        bool repeats = false;                                   ///< the body of a loop
    };
    /// A whole tensor that was overwritten by copy_.
    struct Copy {
        ExprId expr;
        Id storage, source;
        std::size_t version, sourceVersion;
    };
    using Trouble = TensorMemory::Trouble;
    using Steps = TensorMemory::Steps;

    // inplace_walk.cpp: reads, views, writes
    base::Result<void> walkBody(Frame& frame);
    base::Result<void> walkExpr(Frame& frame, ExprId id);
    base::Result<void> resolveReads(Frame& frame, ExprId id);
    base::Result<Argument> resolved(Frame& frame, Argument argument, Cursor& cursor);
    base::Result<NodeId> read(Frame& frame, NodeId node, Cursor& cursor);
    base::Result<NodeId> contentOf(Frame& frame, Id object, Cursor& cursor);
    base::Result<NodeId> readPlace(Frame& frame, Id place, Cursor& cursor);
    base::Result<Id> objectOf(Frame& frame, NodeId node);
    base::Result<void> takeResults(Frame& frame, ExprId id, const std::vector<NodeId>& inputs);
    base::Result<void> reform(Frame& frame, ExprId id, NodeId target);
    bool mayBeSameObject(const Frame& frame, Id place) const;
    base::Result<void> takeView(Frame& frame, ExprId id, NodeId source, bool isList);
    base::Result<void> takeUncertain(Frame& frame, ExprId id, const std::vector<NodeId>& inputs);
    base::Result<void> takeElement(Frame& frame, ExprId id, NodeId holder);
    base::Result<void> takeAttribute(Frame& frame, ExprId id);
    std::string attributeKey(const Frame& main, const Expr& expr) const;
    base::Result<Id> attributeObject(Frame& frame, const std::string& key, ExprId id);
    base::Result<void> write(Frame& frame, ExprId id, NodeId target);
    base::Result<void> writeObject(Frame& frame, ExprId id, Id object, NodeId result);
    base::Result<void> writePart(Frame& frame, ExprId id, Id place, NodeId result);
    std::optional<Trouble> whyNotPart(const Frame& frame, ExprId id, const std::vector<Id>& chain) const;
    base::Result<NodeId> putInto(Frame& frame, ExprId id, const std::vector<Id>& chain, NodeId result);
    void noteCopy(Frame& frame, ExprId id, Id storage);
    void overwriteCopies(const Frame& main);
    bool isPackedResult(Frame& frame, const Expr& expr, const std::vector<NodeId>& inputs);

    // inplace_overlap.cpp: writes that PyTorch refuses
    base::Result<void> checkOverlap(Frame& frame, ExprId id, NodeId target, const std::vector<NodeId>& inputs);
    base::Result<void> checkRepeats(Frame& frame, ExprId id, Id place, const std::vector<Steps>& written);
    std::vector<Steps> stepsOf(const Frame& frame, Id place) const;
    std::vector<graph::ViewStep> viewSteps(const std::vector<Steps>& steps) const;
    void guardOverlap(Frame& frame, ExprId id, Id place, const std::vector<Steps>& written, const Argument* index,
                      const std::vector<Steps>* read, bool allowsSame);

    // inplace_bodies.cpp: called modules, branches, loops
    base::Result<void> walkBodies(Frame& frame, ExprId id, const std::vector<NodeId>& inputs);
    base::Result<void> bindInputs(Frame& inner, const std::vector<NodeId>& arguments);
    base::Result<Id> capture(Frame& inner, NodeId node);
    base::Result<Id> addEntry(Frame& inner, Id outer, NodeId node, bool isBound);
    base::Result<void> bringOut(Frame& frame, ExprId id, std::vector<Frame>& inner);
    base::Result<NodeId> finalContent(Frame& frame, Frame& inner, ExprId id, Id outer);
    void addResults(Frame& inner, bool isCall, const std::vector<NodeId>& more);
    base::Result<void> takeBodyResults(Frame& frame, ExprId id, std::vector<Frame>& inner, std::size_t count);
    base::Result<void> takeBodyResult(Frame& frame, ExprId id, Frame& inner, NodeId result, NodeId output);
    base::Result<void> checkNextIteration(Frame& body);
    base::Result<void> leaveLoop(Frame& frame, ExprId id, std::vector<Frame>& inner);
    void linkResult(Frame& frame, const Frame& inner, Id innerStorage, Id object);
    const Entry* entryOf(const Frame& inner, Id storage) const;
    bool isVisible(const Frame& frame, const Expr& step) const;

    Trouble uncertain(ExprId id, NodeId node) const;
    base::Error impossible(const Trouble& trouble) const;
    bool isFresh(ExprId origin) const;

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    std::set<ExprId> m_effective;
    std::vector<ExprId> m_inserted;
    std::set<ExprId> m_writtenViews;
    std::set<ExprId> m_reformed;
    std::set<ExprId> m_guarded;
    std::vector<Copy> m_copies;
    std::set<NodeId> m_said;
};

}  // namespace sonde::passes
