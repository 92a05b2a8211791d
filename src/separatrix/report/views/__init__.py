"""From a part to what its template shows: rows cut to a bearable length, drawings, sentences."""
