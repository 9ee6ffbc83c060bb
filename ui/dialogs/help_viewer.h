#pragma once

#include <QDialog>

class QListWidget;
class QTextBrowser;

namespace sonde::dialogs {

/// The help pages (resources/help, built into the program) with a list of them and links that work. Not modal: people
/// read it beside the window.
class HelpViewer : public QDialog {
    Q_OBJECT
  public:
    explicit HelpViewer(QWidget* parent = nullptr);
    /// "start", "canvas" …; an unknown one shows the first.
    void showPage(const QString& page);
    QTextBrowser* browser() const { return m_browser; }

  private:
    QListWidget* m_pages;
    QTextBrowser* m_browser;
};

}  // namespace sonde::dialogs
