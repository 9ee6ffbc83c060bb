#pragma once

#include <QFrame>

#include "ui/models/node_search.h"

class QLabel;
class QListView;

namespace sonde::widgets {
class SearchField;
}

namespace sonde::window {

/// The search over the canvas: a field, and the list of what was found. Each hit is selected, opened up to and shown.
class SearchBar : public QFrame {
    Q_OBJECT
  public:
    explicit SearchBar(context::InspectorContext& context, QWidget* parent = nullptr);

    /// Shows the bar with the cursor in it; `text` replaces what was typed unless it is null.
    void activate(const QString& text = {});
    void dismiss();
    /// Searches at once. Returns the number of hits. A text that is no query has none; the bar says what is wrong
    /// where.
    int search(const QString& text);
    const std::optional<analysis::QueryProblem>& problem() const { return m_problem; }
    void next();
    void previous();
    /// Puts itself at the top right of its parent.
    void place();

  Q_SIGNALS:
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void go(int hit);
    void refresh();
    void showProblem();

    context::InspectorContext& m_context;
    widgets::SearchField* m_field;
    models::SearchResultModel m_results;
    QListView* m_list;
    QLabel* m_problemText;
    std::optional<analysis::QueryProblem> m_problem;  ///< why the text that was searched for is no query
};

}  // namespace sonde::window
