#pragma once

#include <string>

#include "core/base/diagnostics.h"
#include "core/graph/ids.h"

namespace sonde::session {

/// Something that a session says to its user, which is no error of what was asked for.
struct Notice {
    base::Severity severity = base::Severity::Info;
    std::string what;
    std::string where;          ///< file, or node: "first: conv1"
    std::string hint;           ///< what to know or to do; may be empty
    graph::NodeId node;         ///< what it is about, if that is a node of the document's graph
    bool isDifference = false;  ///< what a comparison found, which is no problem of the run
};

/// Told of everything that happens in a session. Each function is called on the session's thread, after the state has
/// changed and as the last thing but other events that the caller does: every getter already has the new state, and
/// every verb of the session may be called from inside, which may lead to further events before the call returns. Two
/// things must not be done inside: destroying the session, and keeping pointers into it beyond the call.
class Observer {
  public:
    virtual ~Observer() = default;

    /// The document is about to go; it is there for the last time.
    virtual void documentLeft() {}
    /// A document is there, with inputs and points of its own.
    virtual void documentOpened() {}
    /// A file of the document is no longer what was opened: there are no values until it is opened again. `isNew`:
    /// false if this was told before, and a run that was asked for cannot begin for that reason.
    virtual void fileChanged(const base::Error& error, bool isNew) { (void)error, (void)isNew; }

    /// Watch points, groups of them, or what groups have in the model.
    virtual void watchChanged() {}
    virtual void endChanged() {}

    /// What inputs are given has changed, or a file that their values were read from.
    virtual void inputsChanged() {}
    /// The values of all inputs that can be read are there. After inputsChanged().
    virtual void inputsRead() {}

    virtual void runStarted() {}
    /// The graph with the types of the last run is another one. Comes before runFinished(); the former graph lives
    /// until all have been told.
    virtual void typesChanged() {}
    /// However it ended. Also when values of a finished run are dropped because a file changed.
    virtual void runFinished() {}
    /// Values::request() has brought it.
    virtual void valueArrived(graph::NodeId node) { (void)node; }
    virtual void problemsChanged() {}

    /// A comparison is about to take inputs and tolerances: who has others, typed and not yet given, gives them now.
    virtual void comparisonStarted() {}
    /// A comparison that was asked for is made, and counts the present edits. After comparisonChanged().
    virtual void comparisonMade() {}
    /// Differences are there, stale, or gone; or a comparison has begun or ended without any.
    virtual void comparisonChanged() {}

    /// Results of test cases are there, or gone; running them has begun or ended; another case is shown.
    virtual void testCasesChanged() {}

    /// Statistics of all nodes are there, or gone, or computing them has ended without any.
    virtual void statisticsChanged() {}

    /// Expression watches are others, have other results, or the history has another run.
    virtual void expressionsChanged() {}

    /// The debugger has moved, begins to move, or its run is gone.
    virtual void debuggerChanged() {}
    /// A breakpoint or log point was added, removed, enabled or disabled.
    virtual void breakpointsChanged() {}
    /// What is written on a node.
    virtual void notesChanged() {}
    /// An edit was made, undone or redone. A run of the debugger is done again as far as it was.
    virtual void editsChanged() {}

    virtual void told(const Notice& notice) { (void)notice; }
    /// Something that was asked for beside runs could not be done.
    virtual void failed(const base::Error& error) { (void)error; }
};

}  // namespace sonde::session
