#pragma once

#include <QFrame>

#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
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
    SearchBar(context::OpenModel& opened, context::Navigation& navigation, context::Points& points, context::Runs& runs,
              QWidget* parent = nullptr);

    /// Shows the bar with the cursor in it; `text` replaces what was typed unless it is null.
    void activate(const QString& text = {});
    void dismiss();
    /// What is searched for.
    QString text() const;
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
    void followModel();
    void refresh();
    void showProblem();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Points& m_points;
    context::Runs& m_runs;
    widgets::SearchField* m_field;
    models::SearchResultModel m_results;
    QListView* m_list;
    QLabel* m_problemText;
    std::string m_location;                           ///< of the model that the text was for
    std::optional<analysis::QueryProblem> m_problem;  ///< why the text that was searched for is no query
};

}  // namespace sonde::window
