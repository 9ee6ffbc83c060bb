#pragma once

#include <QDialog>
#include <QStringList>

#include "core/graph/internal_graph.h"

class QListWidget;
class QListWidgetItem;
class QTextBrowser;

namespace sonde::widgets {
class SearchField;
}

namespace sonde::dialogs {

/// The help pages (resources/help, built into the program) and a page for each operator that Sonde knows, with a list
/// of them that can be searched, and links that work. Not modal: people read it next to the window.
class HelpViewer : public QDialog {
    Q_OBJECT
  public:
    explicit HelpViewer(QWidget* parent = nullptr);
    /// "start", "canvas" …, in the order of the list.
    static QStringList pageIds();
    /// An unknown one shows the first.
    void showPage(const QString& page);
    /// Scrolls to a heading of the page; false: it has none of that text.
    bool showHeading(const QString& heading);
    /// The page of an expr's operator, with the attributes that it has there.
    void showOperator(const graph::InternalGraph& graph, graph::ExprId expr);
    /// The list of operators, with the cursor in the search.
    void showOperators();
    /// Leaves the pages that hold the text in their title; of help pages, anywhere.
    void search(const QString& text);

    QTextBrowser* browser() const { return m_browser; }
    QListWidget* pages() const { return m_pages; }
    widgets::SearchField* searchField() const { return m_search; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refresh();
    void showItem(QListWidgetItem* item);
    void showFile(const QString& file);
    void showOperatorPage(const QString& html);
    void addOperators();

    widgets::SearchField* m_search;
    QListWidget* m_pages;
    QTextBrowser* m_browser;
    int m_firstOperator = 0;
    QString m_file;  ///< that is shown; empty: a page of an operator
};

}  // namespace sonde::dialogs
