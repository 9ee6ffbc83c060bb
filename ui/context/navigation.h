#pragma once

#include <QObject>
#include <QString>

#include <vector>

#include "ui/context/open_model.h"
#include "ui/context/selection.h"

namespace sonde::context {

/// What is pointed at in a model: the selection with its history, what the mouse is over, search hits and bookmarks.
/// Belongs to the UI thread.
class Navigation : public QObject {
    Q_OBJECT
  public:
    Navigation(session::Session& session, OpenModel& model) : m_session(session), m_model(model) {}

    const Selection& selection() const { return m_selection; }
    const Selection& hovered() const { return m_hovered; }
    /// All selected nodes: the selection's own first. Several after a box selection.
    const std::vector<NodeId>& selectedNodes() const { return m_selectedNodes; }
    Selection selectionOf(NodeId node) const;
    Selection selectionOf(ExprId expr) const;  ///< of its first output, if it has one
    Selection selectionOf(ScopeId scope) const;
    Selection selectionOf(const QString& qualname) const;  ///< of the module's first call, or the module
    /// The operations that a selection means: a module's, or those of the selected nodes.
    std::vector<ExprId> exprsOf(const Selection& selection) const;
    bool canGoBack() const { return m_historyAt > 0; }
    bool canGoForward() const { return m_historyAt + 1 < m_history.size(); }
    /// Hits of the last search, in graph order, and which of them is current (-1: none).
    const std::vector<NodeId>& searchHits() const { return m_searchHits; }
    int currentHit() const { return m_currentHit; }
    const std::vector<Selection>& bookmarks() const { return m_bookmarks; }
    bool isBookmarked(const Selection& selection) const;

    /// By the context: nothing is pointed at, as in another document; tells nobody.
    void reset(std::vector<Selection> bookmarks = {});

  public Q_SLOTS:
    /// Selects and remembers the place for going back. The canvas keeps its place; see reveal().
    void select(const sonde::context::Selection& selection);
    void select(sonde::graph::NodeId node) { select(selectionOf(node)); }
    void select(sonde::graph::ExprId expr) { select(selectionOf(expr)); }
    void select(sonde::graph::ScopeId scope) { select(selectionOf(scope)); }
    /// Selects what comes next by itself, which is no place to go back to: where a debugged run is.
    void follow(sonde::graph::NodeId node);
    void selectMany(const std::vector<sonde::graph::NodeId>& nodes);
    void clearSelection() { select(Selection{}); }
    void hover(const sonde::context::Selection& selection);
    /// Opens everything that hides it and asks the canvas to show it.
    void reveal(const sonde::context::Selection& selection);
    /// select() and reveal(): what a link, a search hit or a tree row does.
    void navigateTo(const sonde::context::Selection& selection);
    void navigateTo(sonde::graph::NodeId node) { navigateTo(selectionOf(node)); }
    /// Selects it, and asks for the tree of modules to be shown.
    void showInTree(const sonde::context::Selection& selection);
    void goBack();
    void goForward();
    /// Selects the module around the selection.
    void goToParent();
    void setSearchHits(std::vector<sonde::graph::NodeId> hits, int current);

    void toggleBookmark(const sonde::context::Selection& selection);
    void goToBookmark(int index);
    void goToNextBookmark();

  Q_SIGNALS:
    void selectionChanged(const sonde::context::Selection& selection);
    void hoverChanged(const sonde::context::Selection& selection);
    /// For the context, which opens what hides it in the active canvas before revealRequested().
    void openingRequested(const sonde::context::Selection& selection);
    void revealRequested(const sonde::context::Selection& selection);
    void treeRequested();
    void historyChanged();
    void searchHitsChanged();
    void bookmarksChanged();

  private:
    void setSelection(const Selection& selection);

    session::Session& m_session;
    OpenModel& m_model;
    Selection m_selection, m_hovered;
    std::vector<NodeId> m_selectedNodes;
    std::vector<Selection> m_history;
    std::size_t m_historyAt = 0;
    std::vector<NodeId> m_searchHits;
    int m_currentHit = -1;
    std::vector<Selection> m_bookmarks;
};

}  // namespace sonde::context
