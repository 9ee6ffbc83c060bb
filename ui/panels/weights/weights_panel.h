#pragma once

#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/weights.h"
#include "ui/models/node_table_model.h"
#include "ui/models/weight_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class ProgressStrip;
class SearchField;
}  // namespace sonde::widgets

namespace sonde::panels {

class LayerHistogramsView;
class SpectrumView;

/// Every parameter and buffer with its statistics, read when the panel is opened; histograms of the layers; the
/// singular values of a weight.
class WeightsPanel : public Panel {
    Q_OBJECT
  public:
    enum class View { Table, Layers, Spectrum };

    WeightsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Weights& weights,
                 context::Messages& messages, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    LayerHistogramsView* layers() const { return m_layers; }
    SpectrumView* spectrum() const { return m_spectrum; }
    QString countLine() const;
    View view() const { return m_view; }
    void setView(View view);
    /// Row of the list that is current in the table; nothing: none is.
    std::optional<std::size_t> currentWeight() const;
    /// Shows the row with that name. Usage error: there is none.
    base::Result<void> selectWeight(const QString& name);
    base::Result<void> sortBy(const QString& id);
    void setFilter(const QString& text);
    void setColumnShown(int column, bool shown);
    /// Of the current row; computes it if need be.
    void showSpectrum();

    void join(const PanelHost& host);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QToolButton* addViewButton(View view, const QString& icon, const QString& tip);
    void buildTable();
    void buildColumnMenu(QToolButton* button);
    void connectWeights();
    void giveNamesRoom();
    void chooseLayer(const QString& layer, int row);
    void refresh();
    void refreshView();
    void count();
    void follow();
    void showActivity();
    void openTensor(const QModelIndex& index);
    void selectConsumers();
    base::Result<void> writeCsv(const QString& path) const;
    void askForCsv();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Weights& m_weights;
    context::Messages& m_messages;
    models::WeightTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QWidget* m_page;
    QStackedWidget* m_views;
    QTableView* m_table;
    LayerHistogramsView* m_layers;
    SpectrumView* m_spectrum;
    widgets::SearchField* m_filter = nullptr;
    widgets::ElidedLabel* m_count;
    widgets::ProgressStrip* m_progress;
    std::vector<QToolButton*> m_buttons;  ///< by View
    View m_view = View::Table;
    std::optional<std::size_t> m_decomposed;  ///< whose spectrum is shown
    std::function<void()> m_showTensor;
    std::function<void()> m_show;
    bool m_following = false;
};

PanelInfo weightsPanel();

}  // namespace sonde::panels
