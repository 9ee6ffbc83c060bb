#pragma once

#include <QMainWindow>
#include <QTimer>
#include <QVariant>

#include <functional>
#include <map>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/panel_info.h"

class QComboBox;
class QToolButton;
class QSplitter;
class QStackedWidget;

namespace sonde::canvas {
class GraphCanvas;
}
namespace sonde::widgets {
class Banner;
class ElidedLabel;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::window {

class FocusBar;
class SearchBar;
class StartPage;

/// The window: the canvas in the middle, panels docked around it, menus and keys from the tables. It only joins what
/// others do: what is open, selected and run is in the context, which it owns.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    context::InspectorContext& context() { return m_context; }
    /// The canvas in use: the only one, or of two the one where the user worked last.
    canvas::GraphCanvas* canvas() const;
    /// The first (0) or second (1) canvas; null if there is no second.
    canvas::GraphCanvas* canvas(int number) const { return number == 0 ? m_canvas : m_second; }
    bool isSplit() const { return m_second != nullptr; }
    /// Shows a second canvas beside or below the first, or turns the two.
    void split(Qt::Orientation direction);
    /// Closes one of two canvases; the other stays as it is.
    void closeCanvas(int number);
    actions::ActionRegistry& actions() { return m_actions; }
    SearchBar* searchBar() const { return m_search; }
    FocusBar* focusBar() const { return m_focusBar; }
    /// Whether selecting here selects the same in other windows that are linked, and the reverse.
    bool isLinked() const { return m_linked; }
    void setLinked(bool linked);
    /// A second window on the same model, beside this one and linked with it.
    MainWindow* openBeside();
    /// The same with another model.
    MainWindow* openBeside(const QString& model);
    widgets::Banner* banner() const { return m_banner; }
    QDockWidget* dock(const QString& panel) const;
    QWidget* panel(const QString& panel) const;
    /// What the window does for a panel.
    panels::PanelHost hostOf(const QString& panel);

    void open(const QString& location) { m_context.loader().open(location); }
    /// Offers to open again what a session had open that was killed: the first here, the others in windows of their
    /// own.
    void offerAgain(const QStringList& locations);
    /// Opens a sample of the start page with its picture as input.
    void openSample(int index);
    /// Writes the whole graph as it is opened now, in the background. The name's ending gives the format: svg, png,
    /// pdf, dot, json.
    void exportTo(const QString& file);
    void exportPagesTo(const QString& file);
    /// Shows a panel and gives it the focus.
    void showPanel(const QString& panel);
    /// Nothing is being loaded, laid out, painted or run.
    bool isIdle() const;

  protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void moveEvent(QMoveEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private Q_SLOTS:
    void refreshActions();

  private:
    // main_window.cpp
    void buildCentre();
    void buildToolBar();
    void buildStatusBar();
    void connectContext();
    void connectCanvas(canvas::GraphCanvas* canvas);
    void useCanvas();
    void refreshTitle();
    void refreshGraphs();
    void refreshStatus();
    void showBanner(const context::Message& message);
    void giveSamplePicture();
    void dropFile(const QString& path);

    // window_docks.cpp
    void buildDocks();
    void arrangeDocks();
    /// The start page has the window for itself; what was docked comes back with a model.
    void setDocksShown(bool shown);
    QByteArray docksState() const;
    void restoreDocks(const QByteArray& state);
    void leaveRoomForGraph();
    bool isInFront(const QDockWidget& dock) const;
    void togglePanel(const QString& panel);

    // window_state.cpp
    void restore();
    void followState();
    void saveSoon();
    void save();
    std::map<QString, QVariant> state() const;
    void noteSession(const MainWindow* leaving = nullptr) const;
    void openAgain(const QStringList& locations);

    // window_actions.cpp
    void bindFileActions();
    void bindEditActions();
    void bindViewActions();
    void bindGoActions();
    void bindRunActions();
    void bindCompareActions();
    void bindColourActions();
    void bindCanvasActions();
    void bindHelpActions();
    void fillMenus();

    // window_commands.cpp
    void askForModel(bool beside = false);
    void askForBuiltIn();
    MainWindow* newWindow();
    void saveValues();
    void exportPicture(const QString& suffix);
    void exportPages();
    void write(const QString& file, std::function<base::Result<void>(const base::WorkContext&)> work);
    void cancelWork();
    void printPicture();
    void compareWithFile();
    void followComparison();
    void goToDifference(const std::vector<graph::NodeId>& nodes, int step);
    void goToWorst();
    QString noDifferenceText() const;
    void showText();
    void showLabels();
    void measureIfNeeded();
    void showSettings();
    void showHelp(const QString& page);
    void showOperatorHelp();
    void offerReload();
    void askForConsent(const document::NativeRequest& request);
    void followSelection();
    void refreshBookmarks();
    void goToProducer();
    void goToConsumer();
    void goToProblem(int step);
    QString noProblemText() const;
    /// Answers a command that has nothing to do: in the log, and in the status until something else happens.
    void say(const QString& text);
    graph::NodeId actedOn() const;
    graph::NodeId counterpart(const context::OpenModel& there);
    MainWindow* placeBeside();

    context::InspectorContext m_context;
    actions::ActionRegistry m_actions;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    QWidget* m_graphPage = nullptr;
    QSplitter* m_splitter = nullptr;
    canvas::GraphCanvas* m_canvas = nullptr;
    canvas::GraphCanvas* m_second = nullptr;  ///< only while the window is split
    SearchBar* m_search = nullptr;
    FocusBar* m_focusBar = nullptr;
    bool m_linked = false;
    /// The graphs for which pairs of nodes are known, and the pairs: see analysis::matchNodes().
    std::pair<std::weak_ptr<const graph::InternalGraph>, std::weak_ptr<const graph::InternalGraph>> m_matched;
    std::vector<graph::NodeId> m_match;
    std::vector<context::Job*> m_writers;  ///< files that are being written
    bool m_following = false;              ///< the selection comes from another window
    widgets::Banner* m_banner = nullptr;
    widgets::ProgressStrip* m_progress = nullptr;
    widgets::ElidedLabel* m_status = nullptr;
    QToolButton* m_problems = nullptr;  ///< what is wrong with the values of the last run; hidden if nothing is
    QComboBox* m_graphs = nullptr;      ///< which graph of the model is shown; there only if it has several
    QAction* m_graphsAction = nullptr;
    std::map<QString, QDockWidget*> m_docks;
    QByteArray m_dockState;  ///< while the docks are out of the way
    bool m_docksShown = true;
    bool m_showsComparison = false;
    QString m_colorBefore;  ///< what gave the colours before a comparison did
    QTimer m_saveTimer;
    std::map<QString, QVariant> m_saved;  ///< what this window has written, by key of the settings
    graph::NodeId m_worst;  ///< that the last command went to, if nothing else was selected or compared since
    QString m_said;         ///< see say()
    context::Message m_bannerMessage;
    bool m_offersAgain = false;            ///< the banner has what another session had open
    std::function<void()> m_bannerAction;  ///< of the banner's button; none: it shows the message's node
    QString m_sampleLocation;  ///< of the sample that is being opened: gets its picture whatever was its input before
};

}  // namespace sonde::window
