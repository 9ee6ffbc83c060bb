#pragma once

#include <QObject>

#include <functional>
#include <vector>

#include "core/io/npz/npz.h"
#include "ui/context/inspector_context.h"

class QMainWindow;

namespace sonde::window {

class WindowCanvases;

/// Takes what the window shows away: the graph as a file, on pages, onto paper and as text, values as an archive. Files
/// are written in the background, with their progress in the status bar.
class WindowOutput : public QObject {
    Q_OBJECT
  public:
    /// `window` is the parent of dialogs. All must outlive it.
    WindowOutput(QMainWindow& window, context::InspectorContext& context, const WindowCanvases& canvases);

    /// Whether files are being written.
    bool isBusy() const { return !m_writers.empty(); }
    void cancel();

    /// Writes the whole graph as it is opened now. The name's ending gives the format: svg, png, pdf, dot, json.
    void exportTo(const QString& file);
    /// The same as a PDF file on pages.
    void exportPagesTo(const QString& file);

    // With a dialog:
    /// `suffix` is the format.
    void exportGraph(const QString& suffix);
    void exportPages();
    void print();
    void saveValues();
    void showText();

    void copyPicture();

  Q_SIGNALS:
    void busyChanged();

  private:
    using Work = std::function<base::Result<void>(const base::WorkContext&)>;
    void write(const QString& file, Work work);
    /// Usage error if the file is one that the session reads.
    base::Result<void> checkOutput(const QString& file) const;
    void askForFile(const QString& title, const QString& filter, const QString& suffix, const QString& name,
                    const std::function<void(const QString&)>& chosen);
    void saveTo(const QString& file, const std::vector<io::NamedTensor>& values, const QString& remark);
    QString baseName() const;

    QMainWindow& m_window;
    context::InspectorContext& m_context;
    const WindowCanvases& m_canvases;
    std::vector<context::Job*> m_writers;  ///< files that are being written
};

}  // namespace sonde::window
