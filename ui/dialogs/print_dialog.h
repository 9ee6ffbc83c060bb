#pragma once

#include <QDialog>
#include <QImage>
#include <QPrinter>

#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "ui/context/job.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPrintPreviewWidget;

namespace sonde::widgets {
class ProgressStrip;
}

namespace sonde::dialogs {

/// What is to be printed, and how it is cut.
struct PrintChoice {
    bool whole = true;    ///< the whole graph; else what the canvas shows
    bool onePage = true;  ///< shrunk onto one page; else as many as it needs
    bool landscape = false;
    double scale = 0.6;  ///< points per unit on several pages
    QPageSize::PageSizeId size = QPageSize::A4;
};

/// A picture that is to come onto paper. Painted on workers, by one at a time.
struct PrintSource {
    /// The first pages for a preview, and how many there are. `page`: what may be drawn on, in points.
    struct Preview {
        std::vector<QImage> pictures;
        int pages = 0;
    };
    std::function<Preview(const QSizeF& page, const base::WorkContext&)> preview;
    std::function<void(QPrinter&, const base::WorkContext&)> print;
    std::function<base::Result<void>(const QString& path, const base::WorkContext&)> writePdf;
};

/// Printing with a preview. Where there is no printer it still makes a PDF.
class PrintDialog : public QDialog {
    Q_OBJECT
  public:
    /// Takes the picture as it is now.
    using Take = std::function<PrintSource(const PrintChoice&)>;

    PrintDialog(PrintChoice choice, Take take, QWidget* parent = nullptr);

    const PrintChoice& choice() const { return m_choice; }
    /// 0 while they are painted.
    int pages() const { return m_shown.pages; }
    /// Prints without asking where to: into a PDF file.
    void printToPdf(const QString& path);

  Q_SIGNALS:
    void pdfSaved(const QString& path);

  private:
    void refresh();
    void paintPreview(QPrinter& printer) const;
    void print();
    void savePdf();
    /// Controls rest while a job paints for good.
    void begin();
    void setUp(QPrinter& printer) const;

    PrintChoice m_choice;
    Take m_take;
    std::shared_ptr<QPrinter> m_printer;  ///< shared with a worker that prints
    context::Job m_previewJob, m_job;
    PrintSource::Preview m_shown;
    QComboBox* m_what;
    QComboBox* m_pagesBox;
    QComboBox* m_turn;
    QDoubleSpinBox* m_scale;
    QLabel* m_count;
    QPrintPreviewWidget* m_preview;
    QWidget* m_controls;
    widgets::ProgressStrip* m_progress;
};

}  // namespace sonde::dialogs
