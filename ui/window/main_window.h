#pragma once

#include <QMainWindow>

#include <memory>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QStackedWidget;

namespace sonde::widgets {
class Banner;
}

namespace sonde::window {

class ComparisonColors;
class GraphSteps;
class LessonView;
class Presentation;
class SearchBar;
class StartPage;
struct Sample;
class WindowActions;
class WindowBanner;
class WindowCanvases;
class WindowDialogs;
class WindowDocks;
class WindowLinks;
class WindowMenus;
class WindowOutput;
class WindowState;
class WindowStatus;

/// The window: canvases in the middle, panels docked around them, menus and keys from the tables. It builds the parts
/// that do these things and joins them; what is open, selected and run is in the context, which it owns. By itself it
/// opens models, here, beside and in other windows.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    context::InspectorContext& context() { return m_context; }
    actions::ActionRegistry& actions() { return m_actions; }
    WindowCanvases& canvases() { return *m_canvases; }
    WindowDocks& docks() { return *m_docks; }
    WindowOutput& output() { return *m_output; }
    WindowDialogs& dialogs() { return *m_dialogs; }
    WindowLinks& links() { return *m_links; }
    Presentation& presentation() { return *m_presentation; }
    SearchBar* searchBar() const { return m_search; }
    widgets::Banner* banner() const { return m_banner; }

    void open(const QString& location) { m_context.loader().open(location); }
    /// Opens a sample of the start page, an index of samples(), with its input; runs it if its output means something.
    void openSample(int index);
    /// Offers to open again what a session had open that was killed: the first here, the others in windows of their
    /// own.
    void offerAgain(const QStringList& locations);
    /// A second window on the same model, beside this one and linked with it.
    MainWindow* openBeside();
    /// The same with another model.
    MainWindow* openBeside(const QString& model);
    /// Nothing is being loaded, laid out, painted or run.
    bool isIdle() const;

  protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void moveEvent(QMoveEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void buildCentre();
    void buildParts();
    void bindWindows();
    void connectContext();
    void connectParts();
    void showModel();
    void showStart();
    void refreshTitle();
    void giveSampleInputs();
    void beginSample(const Sample& sample);
    void dropFile(const QString& path);
    void noteSession(const MainWindow* leaving = nullptr) const;
    MainWindow* newWindow();
    MainWindow* placeBeside();

    // Panels may call these until they are gone, whatever the context says at its end.
    actions::ActionRegistry m_actions;
    std::unique_ptr<WindowDocks> m_docks;
    context::InspectorContext m_context;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    QWidget* m_graphPage = nullptr;
    SearchBar* m_search = nullptr;
    widgets::Banner* m_banner = nullptr;
    WindowLinks* m_links = nullptr;  ///< a child, by which other windows find it
    std::unique_ptr<WindowCanvases> m_canvases;
    std::unique_ptr<WindowOutput> m_output;
    std::unique_ptr<WindowDialogs> m_dialogs;
    std::unique_ptr<GraphSteps> m_steps;
    std::unique_ptr<Presentation> m_presentation;
    std::unique_ptr<LessonView> m_lessonView;
    std::unique_ptr<WindowActions> m_bindings;
    std::unique_ptr<WindowMenus> m_menus;
    std::unique_ptr<WindowStatus> m_status;
    std::unique_ptr<WindowBanner> m_offers;
    std::unique_ptr<ComparisonColors> m_colors;
    std::unique_ptr<WindowState> m_state;
    QString m_sampleLocation;  ///< of the sample that is being opened: gets its inputs whatever they were before
};

}  // namespace sonde::window
