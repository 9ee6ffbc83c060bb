#pragma once

#include <QWidget>

#include <memory>

#include "core/analysis/weights/spectrum.h"

class QCheckBox;
class QLabel;

namespace sonde::widgets {
class ElidedLabel;
class LinePlot;
}  // namespace sonde::widgets

namespace sonde::panels {

/// The singular values of one weight as a line, largest first, with its ranks in words.
class SpectrumView : public QWidget {
    Q_OBJECT
  public:
    explicit SpectrumView(QWidget* parent = nullptr);

    void setSpectrum(const QString& name, const analysis::Spectrum& spectrum);
    /// Instead of a plot: that it is being computed, or why there is none.
    void setMessage(const QString& text);
    bool hasSpectrum() const { return m_spectrum != nullptr; }
    /// The ranks; the message where there is no spectrum.
    QString text() const;
    /// "σ₃ = 0.51, 12.1 % of ‖A‖² in the first 3"; empty without a value under the cursor.
    QString readOut() const;
    widgets::LinePlot* plot() const { return m_plot; }

  private:
    void showValue(qint64 index);
    void applyScale();

    widgets::ElidedLabel* m_name;
    QLabel* m_text;
    QLabel* m_readOut;
    QCheckBox* m_logarithmic;
    widgets::LinePlot* m_plot;
    std::shared_ptr<const analysis::Spectrum> m_spectrum;
};

}  // namespace sonde::panels
