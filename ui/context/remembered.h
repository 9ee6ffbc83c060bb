#pragma once

#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/document/document.h"
#include "core/layout/outline.h"
#include "core/layout/view_state.h"
#include "core/session/debug/breakpoints.h"
#include "core/session/expression_watches.h"
#include "core/session/notes.h"
#include "ui/context/input_spec.h"
#include "ui/context/place.h"

namespace sonde::context {

/// Repeated blocks in a row are drawn as one from this number on, if they are folded at all.
inline constexpr std::size_t kFoldFrom = 3;

/// What is kept of a model between sessions, under the fingerprint of its content (QSettings "models/FINGERPRINT"). A
/// file that was exported again has another fingerprint: then what was kept for its path last is taken. Nodes are kept
/// by identity (see session::NodeIdentity), modules by qualname and number of the call.
struct Remembered {
    session::PointSet watched;
    session::PointSet ends;
    std::vector<session::WatchGroup> groups;
    std::vector<session::ExpressionWatches::Entry> expressions;  ///< for remember(); text, pin and isEnabled count
    std::vector<session::ExpressionWatch> expressionWatches;     ///< from recall()
    std::vector<session::debug::SavedBreakpoint> breakpoints;
    session::Notes notes;                         ///< for remember()
    std::vector<session::Notes::Kept> keptNotes;  ///< from recall()
    std::vector<graph::NodeId> bookmarkedNodes;
    std::vector<graph::ScopeId> bookmarkedScopes;
    std::vector<std::pair<QString, InputSpec>> inputs;  ///< by input name
    std::optional<layout::ViewState> view;
    std::optional<layout::ViewState> secondView;  ///< of the second canvas
    std::vector<graph::NodeId> accepted;          ///< whose NaN and infinity are meant
    std::optional<double> tolerance;              ///< of float32 values in comparisons; none: the usual one
    Place place, secondPlace;                     ///< see rememberPlace()
};

/// Written by a worker; recall() knows it at once. Does not touch the places.
void remember(std::shared_ptr<const document::Document> document, Remembered state);
/// The same of where a canvas looks alone, which changes often: 0 or 1.
void rememberPlace(std::shared_ptr<const document::Document> document, int canvas, const Place& place);
/// What was kept. Does not wait for a write that goes on: what is being written is known, and so is what
/// fetchRemembered() has read.
Remembered recall(const document::Document& document);
/// Reads what the settings say of a document and its further graphs, for recall(). For workers: waits for the disk.
void fetchRemembered(const document::Document& document);

/// How the window shows two canvases, in the same texts: see Canvases::split().
inline constexpr const char* kSplitKey = "split";
/// What a canvas (0 or 1) shows, as texts by name for a session file: those of the second begin with "secondCanvas/".
std::map<std::string, std::string> viewTexts(const graph::InternalGraph& graph, const layout::ViewState& view,
                                             int canvas);
/// The way back; none if the canvas is not among them.
std::optional<layout::ViewState> viewOfTexts(const graph::InternalGraph& graph,
                                             const std::map<std::string, std::string>& texts, int canvas);

}  // namespace sonde::context
