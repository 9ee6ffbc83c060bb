#pragma once

#include <QWidget>

#include <map>

#include "core/session/outputs/show_outputs.h"
#include "ui/panels/outputs/output_rows.h"

class QLabel;
class QTableView;

namespace sonde::widgets {
class LinePlot;
class MarkedPicture;
}  // namespace sonde::widgets

namespace sonde::panels {

/// One output in its form: a text or number, a picture with boxes or masks over it, a plot, a list; what of these there
/// is. A box that is chosen in the list is strong in the picture, and the other way round.
class OutputView : public QWidget {
    Q_OBJECT
  public:
    explicit OutputView(QWidget* parent = nullptr);

    void show(const session::outputs::ShownOutput& output);
    /// In large letters, for a talk.
    void setLarge(bool large);

    QTableView* list() const { return m_list; }
    widgets::MarkedPicture* picture() const { return m_picture; }
    widgets::LinePlot* plot() const { return m_plot; }
    /// Text or number; empty if the output is neither.
    QString text() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showPlot(const session::outputs::Content& content);
    void fitColumns();
    void makeRoom(int leastBar);
    void showText(const session::outputs::Content& content);
    void repaintPicture();

    session::outputs::ShownOutput m_output;
    OutputRows m_rows;
    std::map<int, int> m_fitted;  ///< widths that fitColumns() gave, by column
    bool m_isLarge = false;
    QLabel* m_text;
    widgets::MarkedPicture* m_picture;
    widgets::LinePlot* m_plot;
    QTableView* m_list;
};

}  // namespace sonde::panels
