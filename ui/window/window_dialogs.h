#pragma once

#include <QObject>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QFileDialog;

namespace sonde::dialogs {
class ExportDialog;
class ReportDialog;
}  // namespace sonde::dialogs

namespace sonde::window {

class WindowCanvases;

/// The dialogs of a window that ask for something or explain it, none of which stops the window.
class WindowDialogs : public QObject {
    Q_OBJECT
  public:
    /// `window` is their parent. All must outlive it.
    WindowDialogs(QWidget& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                  const WindowCanvases& canvases);

    /// The one that is open; null: none.
    dialogs::ExportDialog* exportDialog() const;
    /// The same of audit reports.
    dialogs::ReportDialog* reportDialog() const;
    /// Whether a dialog is computing something.
    bool isBusy() const;

  public Q_SLOTS:
    void askForModel();
    void askForModelBeside();
    /// The model to compare side by side with the open one.
    void askForComparedModel();
    void askForBuiltIn();
    /// Writes the session file now; asks for one if there is none yet.
    void saveSession();
    void saveSessionAs();
    /// Asks for the model of a session file, which is then opened with it.
    void askForSessionModel(const sonde::context::SessionQuestion& question);
    void compareWithFile();
    void askForSweep();
    /// Asks for ONNX Runtime's library, and for the consent to run its code.
    void compareWithEngine();
    void showBisect();
    void showPrecision();
    void showExport();
    void showReport();
    void showSettings();
    void showLabels();
    void showShortcuts();
    void showAbout();
    /// Of the selected operation, else where the help begins.
    void showHelp();
    /// Of the selected operation, else the list of all.
    void showOperatorHelp();
    /// A page of the help (HelpViewer::pageIds()), at a heading if one is given. False: there is none of that text.
    bool showHelpPage(const QString& page, const QString& heading = {});

  Q_SIGNALS:
    void modelChosen(const QString& location);
    void modelBesideChosen(const QString& location);
    /// A file that was exported from the model: to be opened beside it and compared with it.
    void comparisonBesideChosen(const QString& location);

  private:
    QFileDialog* modelDialog(const QString& title);
    void chooseModel(void (WindowDialogs::*chosen)(const QString& location));
    QString selectedQuery() const;
    QStringList labelExample(const context::LabelRules& rules) const;

    QWidget& m_window;
    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    const WindowCanvases& m_canvases;
};

}  // namespace sonde::window
