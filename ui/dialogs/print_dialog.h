#pragma once

#include <QDialog>
#include <QPrinter>

#include <functional>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPrintPreviewWidget;

namespace sonde::dialogs {

/// What is to be printed, and how it is cut.
struct PrintChoice {
    bool whole = true;     ///< the whole graph; else what the canvas shows
    bool onePage = true;   ///< shrunk onto one page; else as many as it needs
    bool landscape = false;
    double scale = 0.6;    ///< points per unit on several pages
};

/// Printing with a preview. Where there is no printer it still makes a PDF.
class PrintDialog : public QDialog {
    Q_OBJECT
  public:
    /// Draws onto a printer whose page is set up; returns the number of pages.
    using Paint = std::function<int(QPrinter&, const PrintChoice&)>;

    PrintDialog(PrintChoice choice, Paint paint, QWidget* parent = nullptr);

    const PrintChoice& choice() const { return m_choice; }
    int pages() const { return m_pages; }
    /// Prints without asking where to: into a PDF file. False if it cannot be written.
    bool printToPdf(const QString& path);

  private:
    void refresh();
    void print();
    void savePdf();
    static void setUp(QPrinter& printer, const PrintChoice& choice);

    PrintChoice m_choice;
    Paint m_paint;
    QPrinter m_printer;
    QComboBox* m_what;
    QComboBox* m_pagesBox;
    QComboBox* m_turn;
    QDoubleSpinBox* m_scale;
    QLabel* m_count;
    QPrintPreviewWidget* m_preview;
    int m_pages = 0;
};

}  // namespace sonde::dialogs
